#include "kernel_baud.hpp"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mmioscope::test {

unsigned kernel_baud(int fd) {
    termios2 settings{};
    const long result = ::syscall(SYS_ioctl, fd, TCGETS2, &settings);
    return result == 0 && settings.c_ispeed == settings.c_ospeed ? settings.c_ospeed : 0;
}

} // namespace mmioscope::test
