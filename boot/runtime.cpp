// What the libraries linked into the image expect of a C environment.
#include "base/check.hpp"

#include <cstdint>

extern "C" {

/// Debian's libfdt is built with a stack protector.
std::uintptr_t __stack_chk_guard = 0x5aa5'c33c;
[[noreturn]] void __stack_chk_fail() {
    mmioscope::panic("stack smashed in libfdt");
}

/// Called for a pure virtual function: a virtual table is damaged.
[[noreturn]] void __cxa_pure_virtual() {
    mmioscope::panic("pure virtual function called");
}
}

/// Deleting destructors are emitted for virtual tables; nothing is ever allocated.
void operator delete(void*) noexcept {
    mmioscope::panic("operator delete called");
}
void operator delete(void*, unsigned int) noexcept {
    mmioscope::panic("operator delete called");
}
