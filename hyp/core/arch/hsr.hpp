// The Hyp Syndrome Register as a value (ARM ARM B3.13.6).
#pragma once

#include "base/field.hpp"

namespace mmioscope::arch {

/// HSR.EC: the reason for the entry to Hyp.
enum class ExceptionClass : std::uint32_t {
    unknown = 0x00,
    wfi = 0x01,
    cp15_32 = 0x03,
    cp15_64 = 0x04,
    cp14_32 = 0x05,
    cp14_ldc = 0x06,
    hcptr = 0x07,
    cp10 = 0x08,
    jazelle = 0x09,
    bxj = 0x0a,
    cp14_64 = 0x0c,
    svc_hyp = 0x11,
    hvc = 0x12,
    smc = 0x13,
    prefetch_abort = 0x20,
    prefetch_abort_hyp = 0x21,
    data_abort = 0x24,
    data_abort_hyp = 0x25,
    breakpoint = 0x30, ///< not in ARMv7, but an emulator may report a debug event like this
    watchpoint = 0x34, ///< as breakpoint
};

class Hsr {
public:
    constexpr Hsr() = default;
    constexpr explicit Hsr(std::uint32_t raw) : raw_(raw) {}
    static constexpr Hsr of(ExceptionClass ec) {
        return Hsr(Field<31, 26, ExceptionClass>::put(ec));
    }
    constexpr std::uint32_t raw() const { return raw_; }

    constexpr ExceptionClass ec() const { return Field<31, 26, ExceptionClass>::get(raw_); }
    constexpr bool il() const { return Bit<25>::get(raw_); } ///< the instruction has 32 bits

    // MCR and MRC that trap, and of WFI the condition (B3.13.6).
    constexpr bool condition_valid() const { return Bit<24>::get(raw_); }
    constexpr unsigned condition() const { return Field<23, 20, unsigned>::get(raw_); }
    constexpr unsigned opc2() const { return Field<19, 17, unsigned>::get(raw_); }
    constexpr unsigned opc1() const { return Field<16, 14, unsigned>::get(raw_); }
    constexpr unsigned crn() const { return Field<13, 10, unsigned>::get(raw_); }
    constexpr unsigned rt() const { return Field<8, 5, unsigned>::get(raw_); }
    constexpr unsigned crm() const { return Field<4, 1, unsigned>::get(raw_); }
    constexpr bool reads_register() const { return Bit<0>::get(raw_); } ///< MRC
    template <class R>
    constexpr bool of() const {
        return opc1() == R::opc1 && crn() == R::crn && crm() == R::crm && opc2() == R::opc2;
    }

    constexpr unsigned immediate() const { return Field<15, 0, unsigned>::get(raw_); } ///< of HVC

    // Data aborts (table B3-19).
    constexpr bool isv() const { return Bit<24>::get(raw_); } ///< the next four fields are valid
    constexpr std::uint8_t log2_size() const { return Field<23, 22, std::uint8_t>::get(raw_); }
    constexpr bool sign_extend() const { return Bit<21>::get(raw_); }
    constexpr std::uint8_t srt() const { return Field<19, 16, std::uint8_t>::get(raw_); }
    constexpr bool external() const { return Bit<9>::get(raw_); }
    constexpr bool cache_maintenance() const { return Bit<8>::get(raw_); }
    constexpr bool stage1_walk() const { return Bit<7>::get(raw_); } ///< fault on a stage-1 walk
    constexpr bool write() const { return Bit<6>::get(raw_); }
    constexpr unsigned status() const { return Field<5, 0, unsigned>::get(raw_); } ///< DFSC, IFSC
    static constexpr unsigned debug_status = 0x22; ///< tables B3-24 and B3-25

    /// Level of the table whose entry caused a translation or permission fault.
    constexpr unsigned level() const { return Field<1, 0, unsigned>::get(raw_); }

    /// Translation fault at any level: the only stage-2 fault that these tables give on purpose.
    constexpr bool translation_fault() const { return (status() & 0x3c) == 0x04; }
    /// At level 2 or 3, as nearly all are.
    constexpr bool page_fault() const { return (status() & 0x3e) == 0x06; }
    /// Permission fault at any level: a fetch from a page that is execute-never.
    constexpr bool permission_fault() const { return (status() & 0x3c) == 0x0c; }
    /// A permission fault as one of translation at level 3.
    constexpr Hsr as_translation_fault() const { return Hsr((raw_ & ~0x3fu) | 0x07); }
    /// Synchronous external abort or parity error on a translation table walk, 0b0101LL or 0b0111LL
    /// (table B3-23). From Non-secure PL1 and PL0 such an abort of a stage-2 walk comes to Hyp.
    constexpr bool abort_on_walk() const { return (status() & 0x34) == 0x14; }
    /// A debug event routed by HDCR.TDE.
    constexpr bool debug_event() const { return breakpoint() || watchpoint(); }
    constexpr bool watchpoint() const {
        return ec() == ExceptionClass::watchpoint ||
               (ec() == ExceptionClass::data_abort && status() == debug_status);
    }
    constexpr bool breakpoint() const { ///< or BKPT
        return (ec() == ExceptionClass::prefetch_abort && status() == debug_status) ||
               ec() == ExceptionClass::breakpoint;
    }

private:
    std::uint32_t raw_{};
};

} // namespace mmioscope::arch
