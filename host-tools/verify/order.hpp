// Checks that the trace has its events in the order of the bus.
#pragma once

#include "verify/align.hpp"
#include "verify/difference.hpp"

#include <span>
#include <vector>

namespace mmioscope::verify {

/// The events that are out of order, each once. In the order of the file,
///   - the events of one CPU, and those of one device, must be in the order of their lines;
///   - cpu_sequence of a CPU, lock_sequence of a device (the hypervisor takes no lock for its
///     own accesses), and time must not go back;
///   - an event that ended before another began must have the earlier line. Different devices may
///     differ only where the intervals [time, time + duration] overlap.
/// A flag_early record was published before the access, so its end is unknown. The time of a
/// flag_boot record is later than the access, so its start is unknown.
///
/// Ignores events that are `altered`, that is, whose fields differ from the log.
std::vector<Difference> check_order(std::span<const importing::Event> events, const Matching& matching,
                                    const std::vector<bool>& altered);

} // namespace mmioscope::verify
