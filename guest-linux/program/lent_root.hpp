// Root's rights that come from the program's file (set-uid, mode 4755) to a user who is not root.
#pragma once

namespace mmioscope::guest {

/// This process has rights that its user has not.
bool root_is_lent();

/// Makes the process its user's own, for good. False if it is not.
[[nodiscard]] bool give_root_back();

} // namespace mmioscope::guest
