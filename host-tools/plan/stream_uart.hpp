// Which UART the trace would leave the board by.
#pragma once

#include "plan/survey.hpp"

namespace mmioscope::plan {

struct StreamUart {
    int node = -1;       ///< negative: there is none
    bool shared = false; ///< it is the guest's console, too (mmioscope,stream-shared)
};

/// A UART in use besides the guest's console; else the console, if the two can share it; else a
/// UART that the tree disables, whose pins and clock the boot loader must turn on.
StreamUart stream_uart(const Survey& board);

} // namespace mmioscope::plan
