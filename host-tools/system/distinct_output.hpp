// Refuses an output that is also an input: creating it would empty the input.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace mmioscope {

/// Throws Error (bad_input) if `output` is the same file as one of `inputs`, whatever both are
/// called; "-" is standard output or input, "" none. To be called before `output` is created. What
/// is no regular file (a device, a pipe, a socket) may be both.
void check_distinct(const std::string& output, const std::vector<std::string>& inputs);
/// The same of inputs that take some work to find: nobody asks for them where there is no file.
void check_distinct(const std::string& output,
                    const std::function<std::vector<std::string>()>& inputs);

} // namespace mmioscope
