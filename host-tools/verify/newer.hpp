// What QEMU logs otherwise since version 8.1: device models to which it gives only whole words, and
// unaligned accesses.
#pragma once

#include "import/access_log.hpp"

#include <string_view>

namespace mmioscope::verify {

/// Marks what a newer QEMU may have written in another form than 7.2 (Line::widened, Line::pieces).
/// `qemu` is the version, as the trace says it; without one the log is taken as 7.2's. A model of
/// which the log has other sizes than words is not widened. Call it before the log is compared.
void mark_newer(importing::AccessLog& log, std::string_view qemu);

} // namespace mmioscope::verify
