#include "control/settings.hpp"

#include "machine/machine.hpp"

namespace mmioscope {

using abi::control::Command;
using abi::control::Request;
using abi::control::Status;

bool setting_well_formed(const Request& r) {
    const std::uint32_t first = r.argument[0], second = r.argument[1];
    const bool in_reach = std::uint64_t{first} + second <= std::uint64_t{1} << 32;
    switch (r.command) {
    case Command::filter_directions: return first >= 1 && first <= 3 && second == 0;
    case Command::filter_addresses:
    case Command::filter_pcs: return in_reach;
    case Command::filter_values: return (second & ~first) == 0;
    case Command::filter_cpus:
    case Command::sample: return first != 0 && second == 0;
    case Command::policy: return first <= 2 && second == 0;
    default: return false;
    }
}

// Under `flight` a reader takes what it finds, under the others it is waited for: that is agreed at
// the start.
Status setting_possible(const Machine& machine, const Request& r) {
    constexpr auto flight = static_cast<std::uint32_t>(abi::Policy::flight);
    const bool overwrites = machine.config.policy == abi::Policy::flight;
    const bool wanted = r.command == Command::policy && r.argument[0] == flight;
    return r.command == Command::policy && overwrites != wanted ? Status::fixed : Status::done;
}

void change_setting(Machine& machine, const Request& r) {
    Filter& filter = machine.control.filter;
    const std::uint32_t first = r.argument[0], second = r.argument[1];
    filter.set = r.command != Command::policy || filter.set;
    switch (r.command) {
    case Command::filter_directions: filter.directions = first; break;
    case Command::filter_addresses:
        filter.address = first;
        filter.address_size = second;
        break;
    case Command::filter_values:
        filter.value_mask = first;
        filter.value = second;
        break;
    case Command::filter_cpus: filter.cpus = first; break;
    case Command::filter_pcs:
        filter.pc = first;
        filter.pc_size = second;
        break;
    case Command::sample: filter.one_in = first; break;
    case Command::policy:
        for (unsigned n = 0; n < machine.cpu_count; ++n)
            machine.cpus[n].ring.set_policy(static_cast<abi::Policy>(first));
        break;
    default: filter = no_filter;
    }
}

} // namespace mmioscope
