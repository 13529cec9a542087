// The rate of a terminal as the kernel keeps it, any number. <termios.h> knows only the named
// rates, and its names clash with the kernel's header.
#pragma once

namespace mmioscope::test {

/// Both directions'; 0 if they differ or `fd` is no terminal.
unsigned kernel_baud(int fd);

} // namespace mmioscope::test
