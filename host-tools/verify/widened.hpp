// Handles device models to which QEMU gives only whole words: its log has the size of the model's
// side. The trace has the guest's.
#pragma once

#include "logs/access_log.hpp"

#include <string_view>

namespace mmioscope::verify {

/// Marks the lines of such models. `qemu` is the version, as the trace says it: 7 has none. Nor is
/// a model one of which the log has other sizes. Call it before compare().
void mark_widened(logs::AccessLog& log, std::string_view qemu);

} // namespace mmioscope::verify
