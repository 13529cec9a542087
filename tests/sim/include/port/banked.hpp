// Host twin of hyp/core/port/banked.hpp.
#pragma once

#include "sim/port.hpp"

#include <cstdint>

namespace mmioscope::port {

enum class Banked : unsigned {
    sp_usr,
    sp_svc,
    lr_svc,
    spsr_svc,
    sp_abt,
    lr_abt,
    spsr_abt,
    sp_und,
    lr_und,
    spsr_und,
    sp_irq,
    lr_irq,
    spsr_irq,
    r8_fiq,
    r9_fiq,
    r10_fiq,
    r11_fiq,
    r12_fiq,
    sp_fiq,
    lr_fiq,
    spsr_fiq,
};

inline std::uint32_t read_banked(Banked which) {
    return sim::banked(static_cast<unsigned>(which));
}
inline void write_banked(Banked which, std::uint32_t value) {
    sim::banked(static_cast<unsigned>(which)) = value;
}

inline std::uint32_t read_sp_usr() {
    return read_banked(Banked::sp_usr);
}
inline std::uint32_t read_sp_svc() {
    return read_banked(Banked::sp_svc);
}
inline std::uint32_t read_lr_svc() {
    return read_banked(Banked::lr_svc);
}

} // namespace mmioscope::port
