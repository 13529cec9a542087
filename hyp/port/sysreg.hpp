// Reading and writing system registers: the only place that issues MRC, MCR, MRRC and MCRR.
// A write takes effect for sure only after an instruction barrier (ARM ARM B3.15.5).
#pragma once

#include "arch/sysreg.hpp"

namespace mmioscope::port {

template <class R>
inline typename R::Value read() {
    if constexpr (sizeof(typename R::Value) == 4) {
        // Ordered among the barriers and writes here, which are volatile, too; no memory needs it.
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

/// Likewise, or 0 where the emulator takes the instruction for none and leaves its register alone.
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
