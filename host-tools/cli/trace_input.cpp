#include "cli/trace_input.hpp"

#include "lib/open_source.hpp"
#include "lib/open_trace.hpp"
#include "lib/part_files.hpp"

namespace mmioscope::cli {

TraceInput::TraceInput(const std::string& path, ReadProgress& progress)
    : source_(watched(trace::open_source(path), progress)),
      reader_(trace::read_trace(*source_, path, trace::tell_of(path))) {
    trace::read_all_parts(*reader_, path);
}

} // namespace mmioscope::cli
