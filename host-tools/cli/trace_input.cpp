#include "cli/trace_input.hpp"

#include "lib/error.hpp"
#include "lib/open_source.hpp"

namespace mmioscope::cli {

TraceInput::TraceInput(const std::string& path) : source_(trace::open_source(path)) {
    const auto report = [path](const std::string& text) {
        fmt::print(stderr, "mmioscope: {}: {}\n", path, text);
    };
    try {
        reader_ = std::make_unique<trace::TraceReader>(*source_, report);
    } catch (const Error& error) {
        throw Error(error.status(), path + ": " + error.what());
    }
}

} // namespace mmioscope::cli
