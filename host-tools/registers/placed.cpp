#include "registers/placed.hpp"

#include <algorithm>

namespace mmioscope::registers {

namespace {

/// Adds the registers of `entry` that begin in the device, which begins `distance` bytes behind the
/// peripheral. Of an array, or of the outermost of nested ones, it may have only the last elements.
void add_behind(Entry entry, std::uint64_t distance, std::vector<Entry>& to) {
    if (entry.first.offset < distance && !entry.series.empty()) {
        Series& array = *std::ranges::max_element(entry.series, {}, &Series::step);
        const std::uint64_t before = distance - entry.first.offset;
        const std::uint64_t skipped =
            array.step == 0 ? array.count
                            : std::min((before + array.step - 1) / array.step, array.count);
        const auto labels = std::min<std::uint64_t>(skipped, array.labels.size());
        array.labels.erase(array.labels.begin(),
                           array.labels.begin() + static_cast<std::ptrdiff_t>(labels));
        array.first += skipped;
        array.count -= skipped;
        entry.first.offset += skipped * array.step;
        if (array.count == 0) {
            return;
        }
    }
    if (entry.first.offset >= distance) {
        entry.first.offset -= distance;
        to.push_back(std::move(entry));
    }
}

void put_in_front(Entry& entry, const std::string& name) {
    std::string& first = entry.series.empty() ? entry.first.name : entry.series.front().prefix;
    first.insert(0, name + "_");
}

} // namespace

bool reaches(const Description& one, const tree::AddressRange& range) {
    if (one.address >= range.base + range.size) {
        return false;
    }
    return std::ranges::any_of(one.entries, [&](const Entry& entry) {
        const std::uint64_t at = one.address + entry.first.offset;
        return at < range.base + range.size && at + extent(entry) > range.base;
    });
}

Description placed(std::span<const Description* const> peripherals,
                   const tree::AddressRange& range) {
    Description made;
    made.name = peripherals.front()->name;
    made.title = peripherals.front()->title;
    made.where = peripherals.front()->where;
    const bool several = std::ranges::any_of(peripherals, [&](const Description* one) {
        return one->address != peripherals.front()->address;
    });
    for (const Description* one : peripherals) {
        for (Entry entry : one->entries) {
            if (several) {
                put_in_front(entry, one->name);
            }
            if (one->address >= range.base) {
                entry.first.offset += one->address - range.base;
                made.entries.push_back(std::move(entry));
            } else {
                add_behind(std::move(entry), range.base - one->address, made.entries);
            }
        }
    }
    return made;
}

} // namespace mmioscope::registers
