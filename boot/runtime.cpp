// What linked libraries expect of a C environment.
#include "base/check.hpp"

extern "C" {

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
