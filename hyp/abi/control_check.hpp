// Which requests (abi/control.hpp) make sense, whatever the machine: the hypervisor and the tools
// that write requests for it ask the same question.
#pragma once

#include "abi/control.hpp"
#include "abi/ring.hpp"

namespace mmioscope::abi::control {

/// Argument of trigger_start and trigger_stop: the most accesses that a trigger counts.
inline constexpr std::uint32_t most_counted = 0x7fff'ffff;

constexpr bool is_trigger(Command command) {
    return command >= Command::trigger_directions && command <= Command::no_trigger;
}
constexpr bool is_probe(Command command) {
    return command == Command::probe || command == Command::unprobe ||
           (command >= Command::probe_action && command <= Command::probe_hits);
}
/// Whether it says what the next probes do.
constexpr bool is_of_next_probes(Command command) {
    return command >= Command::probe_action && command <= Command::probe_if;
}
constexpr bool is_watch(Command command) {
    return command == Command::watch || command == Command::unwatch;
}
/// Whether it is about pages that move.
constexpr bool is_of_pages(Command command) {
    return command == Command::pages_on || command == Command::pages_off;
}
/// Whether it is something, and not too much.
constexpr bool can_be_watched(std::uint32_t begin, std::uint32_t bytes) {
    return bytes != 0 && bytes <= most_watched &&
           std::uint64_t{begin} + bytes <= std::uint64_t{1} << 32;
}
/// Whether the command changes what is recorded; each such change makes a record.
constexpr bool is_change(Command command) {
    return (command >= Command::start && command <= Command::policy) || is_trigger(command) ||
           (is_probe(command) && command != Command::probe_hits) || is_watch(command) ||
           is_of_pages(command);
}
constexpr bool is_marker(Command command) {
    return command == Command::marker || command == Command::marker_text;
}

/// Whether the command accepts these arguments. `statistic` depends on the machine, too.
constexpr bool well_formed(const Request& r) {
    const std::uint32_t first = r.argument[0], second = r.argument[1];
    const bool below_4_gib = std::uint64_t{first} + second <= std::uint64_t{1} << 32;
    switch (r.command) {
    case Command::describe:
    case Command::start:
    case Command::stop:
    case Command::no_filter:
    case Command::flush:
    case Command::snapshot:
    case Command::hello:
    case Command::pages_on:
    case Command::pages_off:
    case Command::no_trigger: return first == 0 && second == 0;
    case Command::select:
    case Command::deselect: return second == 0;
    case Command::select_range:
    case Command::deselect_range: return second != 0 && below_4_gib;
    case Command::filter_directions:
    case Command::trigger_directions: return first >= 1 && first <= 3 && second == 0;
    case Command::filter_addresses:
    case Command::trigger_addresses:
    case Command::filter_pcs: return below_4_gib;
    case Command::filter_values:
    case Command::trigger_values: return (second & ~first) == 0;
    case Command::filter_cpus: return first != 0 && first >> max_cpus == 0 && second == 0;
    case Command::sample: return first != 0 && second == 0;
    case Command::policy: return first <= 2 && second == 0;
    case Command::watch: return can_be_watched(first, second);
    case Command::unwatch: return (first | second) == 0 || can_be_watched(first, second);
    case Command::unprobe:
    case Command::probe_hits: return first % 4 == 0 && second == 0;
    case Command::probe_action:
        return first <= static_cast<std::uint32_t>(ProbeAction::stop) && second != 0;
    case Command::probe_mask: return first == 0;
    case Command::probe_if:
        return (first & 0xff) <= static_cast<std::uint32_t>(ProbeSubject::task) &&
               first >> 8 <= static_cast<std::uint32_t>(ProbeRelation::above);
    case Command::trigger_start:
    case Command::trigger_stop: return first != 0 && first <= most_counted && second == 0;
    default: return true;
    }
}

/// Whether a boot that began with policy `first` can change to `wanted`. A reader has to know from
/// the start whether the rings wait for it (drop, stall) or not (flight). If a program in the guest
/// is the reader, the guest must not wait for it (stall).
constexpr bool can_become(Policy first, Policy wanted, bool guest_reader) {
    return (first == Policy::flight) == (wanted == Policy::flight) &&
           !(guest_reader && wanted == Policy::stall);
}

/// What a request before the guest's first instruction is refused for on any machine, or `done`.
constexpr Status check_early(const Request& r) {
    if (r.command > last_command) return Status::unknown;
    if ((!is_change(r.command) && !is_marker(r.command)) || is_probe(r.command) ||
        is_watch(r.command) || is_of_pages(r.command))
        return Status::unavailable;
    return well_formed(r) ? Status::done : Status::argument;
}

/// Why such a request is refused, in words.
constexpr const char* early_reason(Status status) {
    switch (status) {
    case Status::unknown: return "no such command";
    case Status::argument: return "an argument is not valid";
    case Status::no_device: return "no device has these addresses";
    case Status::finer: return "the range ends inside a region that can only change as a whole";
    case Status::fixed: return "this cannot change";
    case Status::engine: return "the unprotect engine takes no commands";
    case Status::no_room: return "the ring buffer is full";
    case Status::unavailable: return "this command works only while the guest runs";
    default: return "refused";
    }
}

} // namespace mmioscope::abi::control
