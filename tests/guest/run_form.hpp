// Code that is executed with given registers (run_form.S).
#pragma once

#include "types.hpp"

namespace guest {

constexpr unsigned register_count = 10;
struct Registers {
    u32 r[register_count];
    u32 psr; ///< before: the flags; after: the CPSR
};

/// Calls `code` (ARM or Thumb) in SVC or User mode with `registers`, and stores them as they are
/// then.
extern "C" void run_form(void (*code)(), Registers* registers, bool user);

} // namespace guest
