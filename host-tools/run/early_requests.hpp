// The commands of --at-start as requests to the hypervisor before the guest's first instruction.
#pragma once

#include "control/words.hpp"
#include "run/input.hpp"

#include <string>
#include <vector>

namespace mmioscope::run {

/// The requests of `commands`, each in the words of `mmioscope ctl`; devices are those of `tree`.
/// Throws Error (bad_input) in one line: words that make no sense, or none before the guest runs,
/// devices that are not there, more requests than a boot takes. `option` is in front of it.
std::vector<control::Ask> early_requests(const std::vector<std::string>& commands,
                                         const Bytes& tree,
                                         const std::string& option = "--at-start ");

/// The property's cells, one request after the other.
std::vector<std::uint32_t> property_cells(const std::vector<control::Ask>& requests);

/// Name and cells as U-Boot's `fdt set` takes them: one argument, of which some boards allow few.
std::string property_text(const std::vector<control::Ask>& requests);

} // namespace mmioscope::run
