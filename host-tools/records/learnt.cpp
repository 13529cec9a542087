#include "records/learnt.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace mmioscope::trace {

namespace {

std::shared_ptr<const std::vector<abi::RegionEntry>>
regions_of(std::span<const std::byte> payload) {
    // No record is of a later one.
    std::vector<abi::RegionEntry> regions(
        std::min<std::size_t>(payload.size() / sizeof(abi::RegionEntry), abi::no_device));
    if (!regions.empty()) {
        std::memcpy(regions.data(), payload.data(), regions.size() * sizeof(abi::RegionEntry));
    }
    return std::make_shared<std::vector<abi::RegionEntry>>(std::move(regions));
}

} // namespace

bool Learnt::add(abi::SectionType type, std::span<const std::byte> payload) {
    if (type == abi::SectionType::device_tree) {
        tree = std::make_shared<std::vector<std::byte>>(payload.begin(), payload.end());
    } else if (type == abi::SectionType::regions) {
        regions = regions_of(payload);
    } else if (type == tasks_section) {
        tasks.add(payload);
    } else if (type == modules_section) {
        modules.add(payload);
    } else {
        return false;
    }
    return true;
}

void Learnt::add(const abi::Record& record) {
    if (record.type == abi::RecordType::task) {
        tasks.add(record);
    }
    if (record.type != abi::RecordType::marker) {
        return;
    }
    if (const std::optional<Marker> marker = markers.add(record)) {
        if (std::optional<LoadedModule> module = module_of_mark(marker->text, record.time)) {
            modules.add(std::move(*module));
        }
    }
}

std::size_t Learnt::bytes_beside(const Learnt& other) const {
    return (regions == other.regions ? 0 : regions->size() * sizeof(abi::RegionEntry)) +
           (tree == other.tree ? 0 : tree->size()) + tasks.bytes() +
           modules.bytes_beside(other.modules) + markers.bytes();
}

} // namespace mmioscope::trace
