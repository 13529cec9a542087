#include "verify/artefacts.hpp"

#include "abi/record.hpp"

#include <optional>

namespace mmioscope::verify {

namespace {

constexpr unsigned doubleword_bytes = 8;
constexpr std::uint64_t page = 4096;

bool goes_on(const importing::Event& event) {
    return (event.flags & abi::flag_same_instruction) != 0;
}

/// The first events as far as they are of one instruction, adjacent and in one page: how many, and
/// their bytes.
struct EventRun {
    unsigned events = 0;
    unsigned bytes = 0;
};

/// `most`: bytes. An event that would exceed it is not part of the run.
EventRun run_of(const Ahead<importing::Event>& events, std::uint64_t most) {
    const importing::Event& first = events[0];
    EventRun run;
    while (run.events < events.size()) {
        const importing::Event& event = events[run.events];
        const bool same = event.pc == first.pc && event.write == first.write &&
                          event.address % page != 0 && goes_on(event);
        if ((run.events > 0 && !same) || event.address != first.address + run.bytes ||
            !event.value_known || run.bytes + event.size > most) {
            break;
        }
        run.bytes += event.size;
        ++run.events;
    }
    return run;
}

/// The part of the run that is its first `bytes` bytes; none if an event is partly in it.
EventRun cut(const Ahead<importing::Event>& events, unsigned bytes) {
    const EventRun run = run_of(events, bytes);
    return run.bytes == bytes ? run : EventRun{};
}

std::uint64_t joined(const Ahead<importing::Event>& events, const EventRun& run) {
    std::uint64_t value = 0;
    unsigned bits = 0;
    for (unsigned i = 0; i < run.events; ++i) {
        value |= events[i].value << bits;
        bits += events[i].size * 8u;
    }
    return value;
}

/// Whether `count` lines of `size` bytes from `from` on contain the run's bytes at `address`.
bool contain(const Ahead<importing::Line>& lines, std::uint64_t from, unsigned size, unsigned count,
             const Ahead<importing::Event>& events, const EventRun& run) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) {
        if (i >= lines.size() || lines[i].kind != importing::LineKind::access ||
            lines[i].write != events[0].write || lines[i].size != size || size > 4 ||
            lines[i].address != from + i * size) {
            return false;
        }
        const std::uint64_t mask = (std::uint64_t{1} << size * 8) - 1;
        value |= (lines[i].value & mask) << i * size * 8;
    }
    const std::uint64_t mask = (std::uint64_t{1} << run.bytes * 8) - 1;
    return (value >> (events[0].address - from) * 8 & mask) == joined(events, run);
}

Match matched(unsigned lines, const EventRun& run) {
    return {static_cast<std::uint8_t>(lines), Artefact::border,
            static_cast<std::uint8_t>(run.events)};
}

bool at_border(const importing::Event& event) {
    const std::uint64_t offset = event.address % page;
    return event.value_known && (offset == 0 || page - offset < doubleword_bytes);
}

/// Else a word whose neighbour has no record would pass for a part of both.
bool is_surely_a_part(const Ahead<importing::Event>& events) {
    const importing::Event& first = events[0];
    const bool parts = goes_on(first) || (events.size() > 1 && goes_on(events[1]));
    return first.size < 4 || first.again || parts;
}

/// The bytes of the first events that belong to an access of up to `most` bytes over the border: up
/// to the page's end, or what is left of the instruction behind whole accesses.
unsigned bytes_at_border(const Ahead<importing::Event>& events, unsigned most) {
    const std::uint64_t offset = events[0].address % page;
    if (offset != 0) {
        return page - offset < most ? static_cast<unsigned>(page - offset) : 0;
    }
    return run_of(events, page).bytes % most;
}

/// Bytes of one halfword or word: how many events of a byte there are before the border or behind.
unsigned single_bytes(const Ahead<importing::Event>& events) {
    unsigned count = 0;
    const EventRun run = run_of(events, doubleword_bytes);
    while (count < run.events && events[count].size == 1) {
        ++count;
    }
    return count;
}

Match aligned_of(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events) {
    const unsigned size = lines[0].size;
    const EventRun run = cut(events, single_bytes(events));
    const std::uint64_t from = events[0].address - events[0].address % size;
    const std::uint64_t end = events[0].address + run.bytes;
    const bool touches = events[0].address % page == 0 || end % page == 0;
    const bool inside = run.events != 0 && run.bytes < size && end <= from + size && touches;
    return inside && contain(lines, from, size, 1, events, run) ? matched(1, run) : Match{};
}

/// Pieces are of the size to which the access is aligned, and so are both of its parts.
Match pieces_of(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events) {
    for (const unsigned most : {doubleword_bytes, 4u}) {
        const unsigned bytes = bytes_at_border(events, most);
        const EventRun run = cut(events, bytes);
        const unsigned size = lines[0].pieces ? bytes & -bytes : 1;
        if (run.events != 0 && contain(lines, events[0].address, size, bytes / size, events, run)) {
            return matched(bytes / size, run);
        }
    }
    return {};
}

} // namespace

Match border_doubleword(const Ahead<importing::Line>& lines,
                        const Ahead<importing::Event>& events) {
    if (!at_border(events[0]) || events[0].write || !is_surely_a_part(events)) {
        return {};
    }
    const EventRun run = cut(events, bytes_at_border(events, doubleword_bytes));
    if (run.events == 0) {
        return {};
    }
    const std::uint64_t from = events[0].address - events[0].address % doubleword_bytes;
    return contain(lines, from, 4, 2, events, run) ? matched(2, run) : Match{};
}

Match border(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events) {
    if (!at_border(events[0])) {
        return {};
    }
    const bool as_it_is = lines[0].pieces || events[0].write;
    return as_it_is ? pieces_of(lines, events) : aligned_of(lines, events);
}

namespace {

constexpr unsigned bytes = 8;

/// Whether there are `count` adjacent events or lines of `size` bytes from `address` on.
template <typename T>
bool consecutive(const Ahead<T>& all, std::uint64_t address, bool write, unsigned size,
                 unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        if (i >= all.size() || all[i].address != address + i * size || all[i].size != size ||
            all[i].write != write) {
            return false;
        }
    }
    return true;
}

/// The combined value of `count` of them from `first` on, lowest address first; at most 8 bytes.
template <typename T>
std::uint64_t joined(const Ahead<T>& all, unsigned first, unsigned count) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) {
        const unsigned bits = all[first + i].size * 8;
        const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
        value |= (all[first + i].value & mask) << i * bits;
    }
    return value;
}

/// The number of events that make up 8 bytes of one instruction.
std::optional<unsigned> events_of(const Ahead<importing::Event>& events) {
    const importing::Event& first = events[0];
    if (first.size > bytes / 2 || !first.value_known) {
        return std::nullopt;
    }
    const unsigned count = bytes / first.size;
    if (!consecutive(events, first.address, first.write, first.size, count)) {
        return std::nullopt;
    }
    for (unsigned i = 1; i < count; ++i) {
        if (events[i].pc != first.pc || (events[i].flags & abi::flag_same_instruction) == 0) {
            return std::nullopt;
        }
    }
    return count;
}

bool carry(const Ahead<importing::Line>& lines, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        if (lines[i].kind != importing::LineKind::access) {
            return false;
        }
    }
    return true;
}

/// The number of lines for the 8 bytes `value` at `address`; 0: they do not match.
unsigned lines_of(const Ahead<importing::Line>& lines, std::uint64_t address, bool write,
                  std::uint64_t value) {
    const unsigned below = address % bytes;
    const auto are = [&](std::uint64_t from, unsigned size, unsigned count) {
        return consecutive(lines, from, write, size, count);
    };
    const auto same = [&](unsigned count) {
        return !carry(lines, count) || joined(lines, 0, count) == value;
    };
    if ((below == 0 || lines[0].kind == importing::LineKind::pc) && are(address, bytes, 1)) {
        return same(1) ? 1 : 0;
    }
    if (below == 0) { // elements
        return are(address, 4, 2) && carry(lines, 2) && same(2) ? 2 : 0;
    }
    if (lines[0].pieces || write) {
        const unsigned size = lines[0].pieces ? static_cast<unsigned>(address & -address) : 1;
        return are(address, size, bytes / size) && same(bytes / size) ? bytes / size : 0;
    }
    if (!carry(lines, 1)) {
        return are(address - below, bytes, 2) ? 2 : 0;
    }
    if (!are(address - below, 4, 4)) {
        return 0;
    }
    const std::uint64_t seen = joined(lines, 0, 2) >> below * 8 | joined(lines, 2, 2)
                                                                      << (bytes - below) * 8;
    return seen == value ? 4 : 0;
}

} // namespace

Match doubleword(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events) {
    const auto count = events_of(events);
    if (!count) {
        return {};
    }
    const unsigned found =
        lines_of(lines, events[0].address, events[0].write, joined(events, 0, *count));
    return {static_cast<std::uint8_t>(found), Artefact::doubleword,
            static_cast<std::uint8_t>(*count)};
}

} // namespace mmioscope::verify
