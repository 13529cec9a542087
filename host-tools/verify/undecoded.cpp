#include "verify/undecoded.hpp"

#include "abi/record.hpp"
#include "tree/device_names.hpp"
#include "verify/events.hpp"

#include <algorithm>
#include <string_view>

namespace mmioscope::verify {

namespace {

constexpr std::size_t most_lines = 64; ///< for VLDM of 32 words, or one that QEMU reads twice

constexpr std::uint64_t page_size = 4096;

// A walk reads descriptors of 4 or 8 bytes; only their page is known.
bool is_of_walk(const importing::Line& line, const importing::Event& event) {
    return !line.write && line.size >= 4 && line.address - event.address < page_size;
}

bool is_behind(const importing::Line& line, const importing::Line& last) {
    return line.write == last.write && line.address == last.address + last.size;
}

// The first write of an instruction that has read the same addresses.
bool turns_back(const importing::Line& line, const importing::Line& last,
                const importing::Line& first) {
    return line.write && !last.write && line.address == first.address;
}

bool may_begin(const importing::Line& line, const importing::Event& event) {
    if (event.walk) {
        return is_of_walk(line, event);
    }
    if (is_undecoded(event)) {
        // A write may begin with the reads of SWP or STREX.
        return (event.write || !line.write) && line.address <= event.address &&
               event.address - line.address < 8;
    }
    // Over a border, QEMU reads the whole doubleword of what is loaded again.
    const bool whole = event.again && (event.address + event.size) % page_size == 0;
    const unsigned unit = whole ? 8 : event.size;
    return line.write == event.write && line.size <= event.size &&
           line.address ==
               (event.write || line.pieces ? event.address : event.address - event.address % unit);
}

bool next_may_begin(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events,
                    std::size_t line) {
    return events.size() > 1 && may_begin(lines[line], events[1]);
}

} // namespace

bool is_undecoded(const importing::Event& event) {
    return (event.flags & abi::flag_value_unknown) != 0;
}

Match undecoded(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events) {
    if (!may_begin(lines[0], events[0])) {
        return {};
    }
    std::size_t count = 1;
    const bool write = events[0].write;
    while (count < lines.size() && count < most_lines) {
        const importing::Line& line = lines[count];
        const importing::Line& last = lines[count - 1];
        const bool belongs =
            events[0].walk ? is_of_walk(line, events[0])
                           : is_behind(line, last) || (write && turns_back(line, last, lines[0]));
        const bool ended = last.write == write && next_may_begin(lines, events, count);
        if (!belongs || ended) {
            break;
        }
        ++count;
    }
    const bool whole = lines[count - 1].write == write;
    return whole ? Match{static_cast<std::uint8_t>(count), Artefact::undecoded} : Match{};
}

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

std::uint64_t leave_out_unselected(importing::AccessLog& log,
                                   std::span<const importing::Event> events,
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
