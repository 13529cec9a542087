#include "cli/trace_input.hpp"

#include "lib/error.hpp"

#include <unistd.h>

namespace mmioscope::cli {

TraceInput::TraceInput(const std::string& path)
    : file_(path == "-" ? FileDescriptor() : open_input(path)),
      source_(file_ ? file_.get() : STDIN_FILENO) {
    const auto report = [path](const std::string& text) {
        fmt::print(stderr, "mmioscope: {}: {}\n", path, text);
    };
    try {
        reader_ = std::make_unique<trace::TraceReader>(source_, report);
    } catch (const Error& error) {
        throw Error(error.status(), path + ": " + error.what());
    }
}

} // namespace mmioscope::cli
