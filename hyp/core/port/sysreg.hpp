// Reads and writes system registers; the only place in C++ with MRC, MCR, MRRC and MCRR. A write is
// certain to take effect only after an ISB (ARM ARM B3.15.5).
#pragma once

#include "arch/sysreg.hpp"

namespace mmioscope::port {

template <class R>
inline typename R::Value read() {
    if constexpr (sizeof(typename R::Value) == 4) {
        // Volatile orders it among barriers and writes; no memory clobber is needed.
        std::uint32_t v;
        asm volatile("mrc p%c1, %c2, %0, c%c3, c%c4, %c5"
                     : "=r"(v)
                     : "i"(R::coproc), "i"(R::opc1), "i"(R::crn), "i"(R::crm), "i"(R::opc2));
        return v;
    } else {
        std::uint64_t v;
        asm volatile("mrrc p%c1, %c2, %Q0, %R0, c%c3"
                     : "=r"(v)
                     : "i"(R::coproc), "i"(R::opc1), "i"(R::crm)
                     : "memory");
        return v;
    }
}

/// As read(), or 0 if the emulator treats the instruction as a no-op that leaves the register
/// alone.
template <class R>
inline std::uint32_t read_or_zero() {
    std::uint32_t v = 0;
    asm volatile("mrc p%c1, %c2, %0, c%c3, c%c4, %c5"
                 : "+r"(v)
                 : "i"(R::coproc), "i"(R::opc1), "i"(R::crn), "i"(R::crm), "i"(R::opc2));
    return v;
}

template <class R>
inline void write(typename R::Value v) {
    if constexpr (sizeof(typename R::Value) == 4) {
        asm volatile("mcr p%c1, %c2, %0, c%c3, c%c4, %c5"
                     :
                     : "r"(v), "i"(R::coproc), "i"(R::opc1), "i"(R::crn), "i"(R::crm), "i"(R::opc2)
                     : "memory");
    } else {
        asm volatile("mcrr p%c1, %c2, %Q0, %R0, c%c3"
                     :
                     : "r"(v), "i"(R::coproc), "i"(R::opc1), "i"(R::crm)
                     : "memory");
    }
}

} // namespace mmioscope::port
