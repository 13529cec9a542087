// A third kind of entry in section `tasks` (task_table.hpp), in files that are a part of another
// one: what a record of type `task` said which is none of the part. Its key is Record::task, and it
// counts as that record would.
#pragma once

#include "lib/task_table.hpp"

namespace mmioscope::trace {

inline constexpr TaskKey said_task{2};

} // namespace mmioscope::trace
