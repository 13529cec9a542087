// Verdicts on a whole run. Each returns what is wrong, or an empty text.
#pragma once

#include "rig.hpp"

namespace mmioscope::sim {

/// Compares the trace with the bus log: nothing may be missing, extra or reordered, or have another
/// value, size, direction, address, CPU or time. Accesses to `unrecorded` bytes must not be in the
/// trace.
std::string compare_with_bus(const Rig& rig, const std::vector<Range>& unrecorded = {});

/// Checks the tables: over the whole history of table writes, the normal table never maps a byte of
/// `trapped`, no shadow table one of `never`, and no CPU ever loads another CPU's shadow.
std::string check_table_history(const Rig& rig, const std::vector<Range>& trapped,
                                const std::vector<Range>& never);

/// The hypervisor's memory, its UART's page, and an address in no node.
std::vector<Range> never_mapped();
/// The pages of the board's devices that `all` traces.
std::vector<Range> all_device_pages();

} // namespace mmioscope::sim
