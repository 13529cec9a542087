#include "verify/untraced.hpp"

#include "tree/device_names.hpp"
#include "verify/region_finder.hpp"

#include <algorithm>
#include <string_view>

namespace mmioscope::verify {

namespace {

bool is_flash(const abi::RegionEntry& region) {
    std::string_view name = tree::region_path(region);
    name.remove_prefix(name.rfind('/') + 1);
    return name.substr(0, name.find('@')) == "flash";
}

// CFI's "read array", and the reset command of AMD's flash (hw/block/pflash_cfi01.c).
bool reads_array(std::uint64_t command) {
    return (command & 0xff) == 0xff || (command & 0xff) == 0xf0;
}

} // namespace

std::uint64_t leave_out_unselected(importing::AccessLog& log, std::span<const importing::Event> events,
                                   std::span<const abi::RegionEntry> regions) {
    const RegionFinder region_of(regions);
    std::vector<bool> traced(regions.size() + 1); // the last element: no region
    const auto place_of = [&](std::uint64_t address) {
        return std::min<std::size_t>(region_of(address), regions.size());
    };
    for (std::size_t i = 0; i < regions.size(); ++i) {
        traced[i] = (regions[i].flags & abi::region_traced) != 0;
    }
    for (const importing::Event& event : events) {
        traced[place_of(event.address)] = true;
    }
    // An offset instead of an address is in no region (LineKind::rejected).
    return std::erase_if(log.lines, [&](const importing::Line& line) {
        return line.kind != importing::LineKind::rejected && !traced[place_of(line.address)];
    });
}

std::vector<bool> rom_reads(std::span<const importing::Event> events,
                            std::span<const abi::RegionEntry> regions) {
    std::vector<bool> found(events.size());
    std::vector<bool> as_device(regions.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
        const importing::Event& event = events[i];
        if (event.device >= regions.size() || !is_flash(regions[event.device])) {
            continue;
        }
        if (event.write) {
            as_device[event.device] = !event.value_known || !reads_array(event.value);
        } else {
            found[i] = !as_device[event.device];
        }
    }
    return found;
}

} // namespace mmioscope::verify
