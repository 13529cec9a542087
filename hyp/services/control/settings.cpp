#include "control/settings.hpp"

#include "machine/machine.hpp"

namespace mmioscope {

using abi::control::Command;
using abi::control::Request;
using abi::control::Status;

namespace {

/// Sets one field of the filter's or the trigger's pattern.
void change_pattern(Pattern& pattern, const Request& r) {
    const std::uint32_t first = r.argument[0], second = r.argument[1];
    switch (r.command) {
    case Command::filter_directions:
    case Command::trigger_directions: pattern.directions = first; break;
    case Command::filter_addresses:
    case Command::trigger_addresses:
        pattern.address = first;
        pattern.address_size = second;
        break;
    case Command::filter_values:
    case Command::trigger_values:
        pattern.value_mask = first;
        pattern.value = second;
        break;
    case Command::filter_cpus: pattern.cpus = first; break;
    default: pattern.pc = first; pattern.pc_size = second;
    }
}

bool is_triggers(Command command) {
    return command >= Command::trigger_directions && command <= Command::no_trigger;
}

} // namespace

bool setting_well_formed(const Request& r) {
    const std::uint32_t first = r.argument[0], second = r.argument[1];
    const bool in_reach = std::uint64_t{first} + second <= std::uint64_t{1} << 32;
    switch (r.command) {
    case Command::filter_directions:
    case Command::trigger_directions: return first >= 1 && first <= 3 && second == 0;
    case Command::filter_addresses:
    case Command::trigger_addresses:
    case Command::filter_pcs: return in_reach;
    case Command::filter_values:
    case Command::trigger_values: return (second & ~first) == 0;
    case Command::filter_cpus:
    case Command::sample: return first != 0 && second == 0;
    case Command::policy: return first <= 2 && second == 0;
    case Command::trigger_start:
    case Command::trigger_stop: return first != 0 && first <= Trigger::most && second == 0;
    case Command::no_trigger: return first == 0 && second == 0;
    default: return false;
    }
}

// A reader has to know from the start whether the rings wait for it (drop, stall) or not (flight).
// If a program in the guest is the reader, the guest must not wait for it (stall).
Status setting_possible(const Machine& machine, const Request& r) {
    constexpr auto flight = static_cast<std::uint32_t>(abi::Policy::flight);
    const bool overwrites = machine.config.policy == abi::Policy::flight;
    constexpr auto stall = static_cast<std::uint32_t>(abi::Policy::stall);
    if (r.command != Command::policy) return Status::done;
    const bool wanted = r.argument[0] == flight;
    const bool waits_for_itself = machine.config.guest_reader && r.argument[0] == stall;
    return overwrites != wanted || waits_for_itself ? Status::fixed : Status::done;
}

void change_setting(Machine& machine, Choice& choice, const Request& r) {
    Trigger& trigger = choice.trigger;
    const std::uint32_t first = r.argument[0];
    switch (r.command) {
    case Command::sample: choice.filter.one_in = first; break;
    case Command::policy:
        for (unsigned n = 0; n < machine.cpu_count; ++n)
            machine.cpus[n].ring.set_policy(static_cast<abi::Policy>(first));
        break;
    case Command::no_filter: choice.filter = {}; break;
    case Command::trigger_start:
    case Command::trigger_stop:
        trigger.arm(r.command == Command::trigger_start, first, abi::control::change_tag(r));
        break;
    case Command::no_trigger:
        trigger.pattern = {};
        trigger.disarm();
        break;
    default: change_pattern(is_triggers(r.command) ? trigger.pattern : choice.filter.pattern, r);
    }
    choice.any = choice.filter != Filter{} || trigger.active();
}

} // namespace mmioscope
