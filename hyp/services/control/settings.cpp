#include "control/settings.hpp"

#include "abi/control_check.hpp"
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

} // namespace

Status setting_possible(const Machine& machine, const Request& r) {
    if (r.command != Command::policy) return Status::done;
    const auto wanted = static_cast<abi::Policy>(r.argument[0]);
    return abi::control::can_become(machine.config.policy, wanted, machine.config.guest_reader)
               ? Status::done
               : Status::fixed;
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
    default:
        change_pattern(
            abi::control::is_trigger(r.command) ? trigger.pattern : choice.filter.pattern, r);
    }
    choice.any = choice.filter != Filter{} || trigger.active();
}

} // namespace mmioscope
