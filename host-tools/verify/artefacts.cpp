#include "verify/artefacts.hpp"

#include "tree/device_names.hpp"
#include "verify/events.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace mmioscope::verify {

namespace {

constexpr std::uint64_t mask(unsigned bytes) {
    return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes * 8) - 1;
}

bool is(const importing::Line& line, const importing::Event& event, std::uint64_t address,
        unsigned size) {
    return line.write == event.write && line.address == address && line.size == size;
}

bool carries(const importing::Line& line) {
    return line.kind == importing::LineKind::access;
}

bool same_value(const importing::Line& line, const importing::Event& event) {
    return !carries(line) || !event.value_known || (line.value & mask(event.size)) == event.value;
}

// Whether the event has `value`, as far as the line and the event have values.
bool same_value(const importing::Line& line, std::uint64_t value, const importing::Event& event) {
    return !carries(line) || !event.value_known || (value & mask(event.size)) == event.value;
}

// Whether there are `count` consecutive lines of `size` bytes from `address` on.
bool consecutive(const Ahead<importing::Line>& lines, const importing::Event& event,
                 std::uint64_t address, unsigned size, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (i >= lines.size() || !is(lines[i], event, address + i * size, size)) {
            return false;
        }
    }
    return true;
}

// The bytes of `count` such lines, lowest address first; at most 8.
std::uint64_t joined(const Ahead<importing::Line>& lines, unsigned size, std::size_t first,
                     std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        value |= (lines[first + i].value & mask(size)) << (i * size * 8);
    }
    return value;
}

bool aligned(const importing::Event& event) {
    return event.address % event.size == 0;
}

Match split(const Ahead<importing::Line>& lines, const importing::Event& event, unsigned size,
            Artefact artefact) {
    const std::size_t count = event.size / size;
    const bool right = consecutive(lines, event, event.address, size, count) &&
                       same_value(lines[0], joined(lines, size, 0, count), event);
    return right ? Match{static_cast<std::uint8_t>(count), artefact} : Match{};
}

// The largest size that the address is aligned to.
unsigned alignment(std::uint64_t address) {
    return static_cast<unsigned>(address & -address);
}

// Not of the address's alignment.
Match unaligned(const Ahead<importing::Line>& lines, const importing::Event& event) {
    if (lines[0].pieces) {
        return split(lines, event, alignment(event.address), Artefact::unaligned_pieces);
    }
    if (event.write) {
        return split(lines, event, 1, Artefact::unaligned_write);
    }
    const std::uint64_t below = event.address % event.size;
    if (event.size > 4 || !consecutive(lines, event, event.address - below, event.size, 2)) {
        return {};
    }
    const std::uint64_t both = joined(lines, event.size, 0, 2);
    const bool right = same_value(lines[0], both >> below * 8, event);
    return right ? Match{2, Artefact::unaligned_read} : Match{};
}

Match one_line(const importing::Line& line, const importing::Event& event) {
    if (!is(line, event, event.address, event.size) || !same_value(line, event)) {
        return {};
    }
    if (line.kind == importing::LineKind::pc) {
        return {1, Artefact::none};
    }
    if (!carries(line)) {
        return {1, line.kind == importing::LineKind::unmodelled ? Artefact::unmodelled
                                                                : Artefact::rejected};
    }
    const bool unmasked = (line.value & ~mask(event.size)) != 0;
    return {1, unmasked ? Artefact::unmasked_value : Artefact::none};
}

Match widened(const importing::Line& line, const importing::Event& event) {
    const bool right = line.widened && event.size < line.size &&
                       is(line, event, event.address, line.size) && same_value(line, event);
    return right ? Match{1, Artefact::widened} : Match{};
}

// Eight bytes without a device model are one line; an instruction that aborts there has one record,
// for its first word.
Match aborted_doubleword(const importing::Line& line, const importing::Event& event) {
    const bool right = line.kind == importing::LineKind::unmodelled && event.size == 4 &&
                       !event.value_known && is(line, event, event.address, 8);
    return right ? Match{1, Artefact::unmodelled} : Match{};
}

} // namespace

std::string_view artefact_text(Artefact artefact) {
    static constexpr std::array<std::string_view, artefact_count> words = {
        "as they are",
        "with bits beyond their size",
        "of 8 bytes as two of 4",
        "unaligned, as two aligned reads",
        "unaligned, as byte writes",
        "unaligned, as aligned pieces",
        "of 8 bytes of a VFP or NEON register, at once",
        "of a part of an access that lies in two pages",
        "of instructions that the hypervisor does not decode",
        "of devices QEMU does not model",
        "rejected by the device model",
        "of less than a word to a model that QEMU gives only words: sizes are not compared"};
    return words[static_cast<std::size_t>(artefact)];
}

namespace {

// By any row but border_doubleword().
Match explain_plainly(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events) {
    const importing::Event& event = events[0];
    if (is_undecoded(event)) {
        return undecoded(lines, events);
    }
    if (const Match match = one_line(lines[0], event)) {
        return match;
    }
    if (const Match match = border(lines, events)) {
        return match;
    }
    if (const Match match = doubleword(lines, events)) {
        return match;
    }
    if (const Match match = aborted_doubleword(lines[0], event)) {
        return match;
    }
    if (const Match match = widened(lines[0], event)) {
        return match;
    }
    if (event.size > 8) { // a value of several lines has room for 8 bytes
        return {};
    }
    if (event.size == 8 && aligned(event)) {
        return split(lines, event, 4, Artefact::split_in_words);
    }
    return aligned(event) ? Match{} : unaligned(lines, event);
}

Match explain_ahead(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events,
                    unsigned depth);

// Whether the next `depth` events have lines, too, if `match` is right.
bool goes_on(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events,
             const Match& match, unsigned depth) {
    if (depth == 0 || events.size() <= match.events) {
        return true;
    }
    if (lines.size() <= match.lines) {
        return false;
    }
    const auto next_lines = lines.from(match.lines);
    const auto next_events = events.from(match.events);
    const Match next = explain_ahead(next_lines, next_events, depth - 1);
    return next && goes_on(next_lines, next_events, next, depth - 1);
}

Match explain_ahead(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events,
                    unsigned depth) {
    const Match plain = explain_plainly(lines, events);
    const Match words = border_doubleword(lines, events);
    if (!plain || !words) {
        return plain ? plain : words;
    }
    const bool only_plain =
        !goes_on(lines, events, words, depth) && goes_on(lines, events, plain, depth);
    return only_plain ? plain : words;
}

constexpr unsigned far_enough = 6; // behind the accesses at one border

} // namespace

Match explain(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events) {
    return explain_ahead(lines, events, far_enough);
}

namespace {

struct Alias {
    std::string_view model; ///< QEMU's name for the memory region
    std::string_view node;  ///< the device's name in the device tree, before the '@'
};
constexpr std::array aliases = {
    Alias{"pcie-mmcfg-mmio", "pcie"}, // configuration space of virt (hw/arm/virt.c)
};

std::optional<std::uint64_t> base_of(std::string_view node,
                                     std::span<const abi::RegionEntry> regions) {
    for (const abi::RegionEntry& region : regions) {
        std::string_view name = tree::region_path(region);
        name.remove_prefix(name.rfind('/') + 1);
        if (region.reg_index == 0 && name.substr(0, name.find('@')) == node) {
            return region.base;
        }
    }
    return std::nullopt;
}

} // namespace

void place_aliased(importing::AccessLog& log, std::span<const abi::RegionEntry> regions) {
    for (const Alias& alias : aliases) {
        const std::optional<std::uint64_t> base = base_of(alias.node, regions);
        if (!base) {
            continue;
        }
        for (importing::Line& line : log.lines) {
            if (line.kind == importing::LineKind::access &&
                log.regions[line.region] == alias.model) {
                line.address += *base;
            }
        }
    }
}

namespace {

// QEMU's names of memory regions whose impl.min_access_size is 4 (hw/char/pl011.c of QEMU 10).
constexpr std::array<std::string_view, 1> word_models = {"pl011"};

bool has_only_words(const importing::AccessLog& log, const importing::Line& line) {
    return line.kind == importing::LineKind::access &&
           std::ranges::find(word_models, log.regions[line.region]) != word_models.end();
}

// The first version that splits unaligned accesses into aligned ones (accel/tcg/cputlb.c,
// int_ld_mmio_beN and int_st_mmio_leN).
constexpr unsigned first_newer = 801;

// 7.2.22 is 702. 0: not known.
unsigned major_and_minor(std::string_view qemu) {
    unsigned major = 0;
    unsigned minor = 0;
    const auto [dot, error] = std::from_chars(qemu.data(), qemu.data() + qemu.size(), major);
    if (error == std::errc{} && dot != qemu.data() + qemu.size()) {
        std::from_chars(dot + 1, qemu.data() + qemu.size(), minor);
    }
    return 100 * major + minor;
}

void mark_widened(importing::AccessLog& log) {
    std::vector<bool> only_words(log.regions.size(), true);
    for (const importing::Line& line : log.lines) {
        if (has_only_words(log, line) && line.size != 4) {
            only_words[line.region] = false;
        }
    }
    for (importing::Line& line : log.lines) {
        line.widened = has_only_words(log, line) && only_words[line.region];
    }
}

} // namespace

void mark_newer(importing::AccessLog& log, std::string_view qemu) {
    if (major_and_minor(qemu) < first_newer) {
        return;
    }
    mark_widened(log);
    for (importing::Line& line : log.lines) {
        line.pieces = true;
    }
}

} // namespace mmioscope::verify
