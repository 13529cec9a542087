#include "registers/trace_devices.hpp"

#include "abi/record.hpp"
#include "tree/device_tree.hpp"

#include <algorithm>

namespace mmioscope::registers {

TraceDevices::TraceDevices(const Sources& sources)
    : book_(RegisterBook::shipped()), registers_(book_) {
    for (const std::string& file : sources.files) {
        book_.add_file(file);
    }
    if (!sources.tree.empty()) {
        tree_ = tree::read_tree(sources.tree);
    }
}

void TraceDevices::refresh(const trace::TraceReader& reader) {
    if (!fresh_ && (reader.device_changes() == seen_changes_ ||
                    (tree::same_regions(reader.regions(), seen_regions_) &&
                     std::ranges::equal(reader.tree(), seen_tree_)))) {
        return;
    }
    fresh_ = false;
    seen_changes_ = reader.device_changes();
    seen_regions_.assign(reader.regions().begin(), reader.regions().end());
    seen_tree_.assign(reader.tree().begin(), reader.tree().end());
    const std::span<const std::byte> tree = tree_.empty() ? reader.tree() : tree_;
    devices_ = list_devices(reader.regions(), tree);
    name_pci_functions(devices_, reader.text());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
        names.emplace_back(reader.names()[static_cast<std::uint16_t>(i)]);
    }
    registers_.bind(devices_);
    interrupts_.bind(devices_, names, tree);
}

std::vector<std::string> TraceDevices::remarks() {
    std::vector<std::string> lines;
    for (const LeftOut& file : book_.left_out()) {
        lines.push_back(file.count == 1 ? fmt::format("{}: left out", file.first)
                                        : fmt::format("{}: left out, and {} more of this file",
                                                      file.first, file.count - 1));
    }
    if (book_.has_files() && !devices_.empty()) {
        for (std::uint16_t i = 0; i < devices_.size(); ++i) {
            registers_.description(i);
        }
        for (const std::string& file : book_.unused()) {
            lines.push_back(file + ": it describes no device of this trace: compare addresses and "
                                   "compatible strings with `mmioscope info`");
        }
    }
    return lines;
}

void CoverageCount::add(const Touched& one) {
    ++touched;
    device += one.device ? 1 : 0;
    reg += one.reg ? 1 : 0;
    field += one.field ? 1 : 0;
}

void Coverage::add(const Event& event) {
    if (event.record.type != abi::RecordType::access) {
        return;
    }
    const std::uint64_t offset = event.reg() != nullptr ? event.reg()->offset : event.offset();
    Touched& touched = touched_[{std::string(event.device()), offset}];
    ++(abi::is_write(event.record) ? touched.writes : touched.reads);
    touched.device = touched.device && event.record.device != abi::no_device;
    touched.reg = touched.reg && event.reg() != nullptr;
    touched.field = touched.field && event.reg() != nullptr && !event.reg()->fields.empty();
}

std::map<std::string, CoverageCount> Coverage::devices() const {
    std::map<std::string, CoverageCount> counts;
    for (const auto& [place, touched] : touched_) {
        counts[place.first].add(touched);
    }
    return counts;
}

CoverageCount Coverage::total() const {
    CoverageCount count;
    for (const auto& [place, touched] : touched_) {
        count.add(touched);
    }
    return count;
}

std::map<Coverage::Place, Touched> Coverage::unnamed() const {
    std::map<Place, Touched> found = touched_;
    std::erase_if(found, [](const auto& entry) { return entry.second.field; });
    return found;
}

} // namespace mmioscope::registers
