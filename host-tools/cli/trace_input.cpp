#include "cli/trace_input.hpp"

#include "file/part_files.hpp"
#include "file/trace_reader.hpp"
#include "system/open_source.hpp"

namespace mmioscope::cli {

TraceInput::TraceInput(const std::string& path, ReadProgress& progress)
    : source_(watched(open_source(path), progress)),
      reader_(trace::read_trace(*source_, path, trace::tell_of(path))) {
    trace::read_all_parts(*reader_, path);
}

} // namespace mmioscope::cli
