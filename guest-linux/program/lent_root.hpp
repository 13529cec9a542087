// The rights of root that the program's file (set-uid, mode 4755) gives to other users.
#pragma once

namespace mmioscope::guest {

/// Whether this process has rights that its user does not have.
bool root_is_lent();

/// Gives these rights up for good. False if the process still has them.
[[nodiscard]] bool give_root_back();

} // namespace mmioscope::guest
