#include "verify/events.hpp"

#include "abi/record.hpp"
#include "tree/device_names.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace mmioscope::verify {

namespace {

bool aborted(const abi::Record& record) {
    return record.type == abi::RecordType::fault &&
           record.value == static_cast<std::uint64_t>(abi::FaultReason::external_abort);
}

bool is_walk(const abi::Record& record) {
    return record.type == abi::RecordType::page_table_walk;
}

// Some of its accesses, or none; without an address nothing can be compared.
bool uncertain(const abi::Record& record) {
    const bool unknown = record.type == abi::RecordType::fault &&
                         abi::fault_reason(record.value) == abi::FaultReason::access_unknown;
    return is_walk(record) || (unknown && abi::physical_address(record) != 0);
}

bool may_be_on_the_bus(const abi::Record& record) {
    return record.type == abi::RecordType::access || record.type == abi::RecordType::own ||
           aborted(record) || uncertain(record);
}

importing::Event to_event(const abi::Record& record, std::uint64_t number) {
    importing::Event event{};
    event.address = abi::physical_address(record);
    event.value = record.value;
    event.time = record.time;
    event.duration = record.duration;
    event.lock_sequence = record.lock_sequence;
    event.cpu_sequence = record.cpu_sequence;
    event.pc = record.pc;
    event.number = static_cast<std::uint32_t>(number);
    event.device = record.device;
    event.cpu = record.cpu;
    event.size = static_cast<std::uint8_t>(abi::access_size(record));
    event.flags = record.flags;
    event.write = abi::is_write(record);
    event.own = record.type == abi::RecordType::own;
    event.uncertain = uncertain(record);
    event.walk = is_walk(record);
    event.value_known = (record.flags & abi::flag_value_unknown) == 0 && !aborted(record);
    event.guest_instruction = !event.own && (record.access & abi::access_emulated) == 0;
    return event;
}

// Whether it is of the same instruction as `fault`, which was taken behind its first access: the
// guest has mapped the rest meanwhile.
bool made_again(const importing::Event& fault, const importing::Event& event) {
    return fault.uncertain && !fault.walk && !event.uncertain && event.pc == fault.pc &&
           event.address == fault.address && event.write == fault.write;
}

} // namespace

Events read_events(trace::TraceReader& reader) {
    Events events{{}, trace::LossCounter(1), 0, 0, {}};
    const std::optional<std::uint32_t> memory = tree::guest_memory_in(reader.regions());
    std::array<importing::Event, 256> faults{}; // the last one of each CPU
    for (auto records = reader.next(); !records.empty(); records = reader.next()) {
        for (const abi::Record& record : records) {
            ++events.records;
            events.holes.add(record);
            if (record.device == memory) {
                ++events.of_memory;
            } else if (may_be_on_the_bus(record)) {
                importing::Event event = to_event(record, events.records);
                importing::Event& fault = faults[event.cpu];
                event.again = made_again(fault, event);
                if (event.uncertain || event.again) {
                    fault = event;
                }
                events.all.push_back(event);
            }
        }
    }
    events.unfinished = trace::unfinished_accesses(reader.text());
    return events;
}

namespace {

using Shape = std::tuple<std::uint64_t, unsigned, bool>; // address, size, write

// Finds the accesses of the trace that a device model refused: those with the shape of a refused
// line, unless a model took exactly such an access. Makes the lines' addresses absolute.
std::set<Shape> locate_rejected(std::vector<importing::Line>& lines,
                                std::span<const importing::Event> events,
                                std::span<const abi::RegionEntry> regions) {
    std::map<Shape, std::vector<importing::Line*>> refused; // by offset
    for (importing::Line& line : lines) {
        if (line.kind == importing::LineKind::rejected) {
            refused[{line.address, line.size, line.write}].push_back(&line);
        }
    }
    std::set<Shape> shapes;
    if (refused.empty()) {
        return shapes;
    }
    std::set<Shape> taken;
    for (const importing::Line& line : lines) {
        if (line.kind == importing::LineKind::access) {
            taken.insert({line.address, line.size, line.write});
        }
    }
    for (const importing::Event& event : events) {
        const std::uint64_t base = event.device < regions.size() ? regions[event.device].base : 0;
        const Shape shape{event.address, event.size, event.write};
        const auto found = refused.find({event.address - base, event.size, event.write});
        if (found != refused.end() && !taken.contains(shape)) {
            shapes.insert(shape);
            for (importing::Line* line : std::exchange(found->second, {})) {
                line->address = event.address;
            }
        }
    }
    return shapes;
}

std::unordered_set<std::uint64_t> unmodelled_addresses(std::span<const importing::Line> lines) {
    std::unordered_set<std::uint64_t> addresses;
    for (const importing::Line& line : lines) {
        if (line.kind == importing::LineKind::unmodelled) {
            addresses.insert(line.address);
            addresses.insert(line.address + line.size / 2); // two words in a line of 8 bytes
        }
    }
    return addresses;
}

// Lines of an unaligned access, and of some undecoded ones, begin below its address.
bool is_unmodelled(const importing::Event& event,
                   const std::unordered_set<std::uint64_t>& addresses) {
    const std::uint64_t step = is_undecoded(event) ? 8 : event.size;
    return !addresses.empty() && (addresses.contains(event.address) ||
                                  addresses.contains(event.address - event.address % step));
}

bool before(const importing::Event& a, const importing::Event& b) {
    return static_cast<std::int32_t>(b.cpu_sequence - a.cpu_sequence) > 0;
}

// An event whose number contradicts its place, between two that are consecutive, could be mistaken
// for similar ones. It is moved to where its number belongs, or removed if that is nowhere.
// (check_order() reports that it is misplaced.)
void settle_strays(std::vector<std::uint32_t>& order, std::span<const importing::Event> events) {
    std::vector<std::uint32_t> kept;
    std::vector<std::uint32_t> strays;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const importing::Event& event = events[order[i]];
        const importing::Event* last = kept.empty() ? nullptr : &events[kept.back()];
        const importing::Event* next = i + 1 < order.size() ? &events[order[i + 1]] : nullptr;
        const bool neighbours_agree = last == nullptr || next == nullptr || before(*last, *next);
        const bool fits =
            (last == nullptr || before(*last, event)) && (next == nullptr || before(event, *next));
        (fits || !neighbours_agree ? kept : strays).push_back(order[i]);
    }
    for (const std::uint32_t stray : strays) {
        const auto place = std::lower_bound(
            kept.begin(), kept.end(), stray,
            [&](std::uint32_t a, std::uint32_t b) { return before(events[a], events[b]); });
        if (place != kept.end() && before(events[stray], events[*place])) {
            kept.insert(place, stray);
        }
    }
    order = std::move(kept);
}

} // namespace

std::vector<Stream> divide(std::vector<importing::Line>& lines,
                           std::span<const importing::Event> events,
                           std::span<const abi::RegionEntry> regions) {
    const std::set<Shape> rejected = locate_rejected(lines, events, regions);
    const std::unordered_set<std::uint64_t> unmodelled = unmodelled_addresses(lines);
    const RegionFinder region_of(regions);
    // CPUs from 0 on, then devices without a model.
    constexpr std::uint32_t devices = 256;
    std::map<std::uint32_t, Stream> streams;
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
        const importing::Line& line = lines[i];
        const std::uint32_t key = line.cpu >= 0 ? static_cast<std::uint32_t>(line.cpu)
                                                : devices + region_of(line.address);
        streams[key].lines.push_back(i);
    }
    for (std::uint32_t i = 0; i < events.size(); ++i) {
        const importing::Event& event = events[i];
        const bool modelled =
            !is_unmodelled(event, unmodelled) &&
            (rejected.empty() || !rejected.contains({event.address, event.size, event.write}));
        streams[modelled ? event.cpu : devices + region_of(event.address)].events.push_back(i);
    }
    std::vector<Stream> all;
    for (auto& [key, stream] : streams) {
        if (key < devices) {
            settle_strays(stream.events, events);
        }
        all.push_back(std::move(stream));
    }
    return all;
}

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
