// Checks that the trace has its events in the order of the bus.
#pragma once

#include "verify/align.hpp"
#include "verify/difference.hpp"

#include <span>
#include <vector>

namespace mmioscope::verify {

/// The events that are out of order, each once. In the order of the file,
///   - the events of one CPU, and those of one device, must stand in the order of their lines;
///   - cpu_sequence of a CPU, lock_sequence of a device (the hypervisor takes no lock for its
///     own accesses), and time must not go back;
///   - an event that was over before another began must have the earlier line. Only where the
///     intervals [time, time + duration] overlap may different devices go either way.
/// A flag_early record was published before the access, so nothing is known of its end; the
/// time of a flag_boot record is later than the access, so nothing is known of its start.
///
/// `altered`, by event: those whose fields are not what the log tells are not looked at.
std::vector<Difference> check_order(std::span<const logs::Event> events, const Matching& matching,
                                    const std::vector<bool>& altered);

} // namespace mmioscope::verify
