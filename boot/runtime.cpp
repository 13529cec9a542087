// What linked libraries expect of a C environment.
#include "base/check.hpp"

#include <cstdint>

extern "C" {

/// For libraries that are built with a stack protector. The present ones (hyp/packages.txt) are
/// not.
std::uintptr_t __stack_chk_guard = 0x5aa5'c33c;
[[noreturn]] void __stack_chk_fail() {
    mmioscope::panic("stack smashed in libfdt");
}

/// Called for a pure virtual function: a virtual table is damaged.
[[noreturn]] void __cxa_pure_virtual() {
    mmioscope::panic("pure virtual function called");
}
}

/// Virtual tables refer to deleting destructors, and these call it; nothing is ever allocated.
void operator delete(void*) noexcept {
    mmioscope::panic("operator delete called");
}
void operator delete(void*, unsigned int) noexcept {
    mmioscope::panic("operator delete called");
}
