// The rate of a terminal as the kernel keeps it, which may be any number. <termios.h> knows only
// the named rates, and its names clash with the kernel's header.
#pragma once

namespace mmioscope::test {

/// For both directions; 0 if they differ or `fd` is not a terminal.
unsigned kernel_baud(int fd);

} // namespace mmioscope::test
