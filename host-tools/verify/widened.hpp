// Handles device models to which QEMU gives only whole words: its log has the size of the model's
// side. The trace has the guest's.
#pragma once

#include "logs/access_log.hpp"

namespace mmioscope::verify {

/// Marks the lines of such models. A QEMU whose log has other sizes for a model gives it the
/// guest's, and its lines are not marked.
void mark_widened(logs::AccessLog& log);

} // namespace mmioscope::verify
