#include "verify/doubleword.hpp"

#include "abi/record.hpp"

#include <optional>

namespace mmioscope::verify {

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
