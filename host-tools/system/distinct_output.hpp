// Refuses an output that is also an input: creating it would empty the input.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace mmioscope {

/// Throws Error (bad_input) if `output` is the same file as one of `inputs`, under any names; "-"
/// is standard output or input, "" none. Call it before creating `output`. A file that is not
/// regular (a device, a pipe, a socket) may be both.
void check_distinct(const std::string& output, const std::vector<std::string>& inputs);
/// Likewise, for inputs that take some work to find: calls the function only if `output` exists.
void check_distinct(const std::string& output,
                    const std::function<std::vector<std::string>()>& inputs);

} // namespace mmioscope
