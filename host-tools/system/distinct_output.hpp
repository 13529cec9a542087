// Refuses an output that is also an input, since creating it would empty the input, or another
// output.
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

/// Whether an output may go on in FILE.2, FILE.3 ... (system/part_path.hpp).
enum class Numbered { no, yes };

struct NamedOutput {
    const char* option; ///< for messages
    std::string path;   ///< "-": standard output; empty: none
    Numbered numbered = Numbered::no;
    bool may_be_standard = false; ///< and not only a file
};

/// Throws Error (bad_input) if one of `outputs` cannot be created, before another one is; or if it
/// is standard output and may not, for messages go there: it would be a file called "-". Throws one
/// that names both if two of `outputs` are, or will be, the same file,
/// under any names. None of them need exist. Devices and pipes may be several.
void check_distinct_outputs(const std::vector<NamedOutput>& outputs);

} // namespace mmioscope
