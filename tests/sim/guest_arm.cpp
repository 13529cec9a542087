// The ARM subset (ARM ARM A5, A8), used by the tests' small programs.
#include "guest_cpu.hpp"

#include "arch/control.hpp"

#include <bit>

namespace mmioscope::sim {

GuestCpu::Effect GuestCpu::execute_arm(std::uint32_t word) {
    if ((word & 0xfff1'fe20) == 0xf100'0000) { // CPS
        if (is_set(word, 17)) core_.frame.psr = (core_.frame.psr & ~0x1fu) | field(word, 4, 0);
        return is_set(word, 19) ? change_state(!is_set(word, 18), field(word, 8, 6) << 6)
                                : Effect::next;
    }
    if ((word & 0xfff0'0000) == 0xf570'0000) return barrier(word);
    if ((word & 0xfff0'00f0) == 0xe140'0070) { // HVC returns to the next instruction
        core_.frame.pc += 4;
        return trap(0x12, (word >> 4 & 0xfff0) | (word & 0xf), true);
    }
    if ((word & 0x0ff0'00f0) == 0x0160'0070) return monitor_call();
    if ((word & 0x0ff0'00f0) == 0x0120'0070) return breakpoint_instruction();         // BKPT
    if ((word & 0x0fff'fff0) == 0x012f'ff10) return exchange(get(field(word, 3, 0))); // BX
    if ((word & 0x0fff'ffff) == 0x0320'f000) return Effect::next;                     // NOP
    if ((word & 0x0fff'ffff) == 0x0320'f003) return wait_for_interrupt();
    if ((word & 0xff10'0000) == 0xf400'0000) return structure_load_store(word);
    if ((word & 0x0fb0'0ff0) == 0x0100'0090) return swap(word);
    if ((word & 0x0f80'0ff0) == 0x0180'0f90) return exclusive(word);
    switch (field(word, 27, 25)) {
    case 6: return vfp_load_store(word);
    case 0:
        if (is_set(word, 7) && is_set(word, 4)) return arm_extra_load_store(word);
        return arm_data_processing(word);
    case 1: return arm_data_processing(word);
    case 2: return arm_load_store(word);
    case 3:
        if (!is_set(word, 4)) return arm_load_store(word);
        break;
    case 4: return arm_block(word);
    case 5:
        return branch(get(15) +
                      static_cast<std::uint32_t>(static_cast<std::int32_t>(word << 8) >> 6));
    case 7:
        if (is_set(word, 24)) return supervisor_call();
        if (is_set(word, 4)) return coprocessor(word);
        break;
    default: break;
    }
    undefined();
    return Effect::trapped;
}

/// AND, SUB, RSB, ADD, CMP, ORR, MOV with an immediate or a register shifted left; MOVW and MOVT.
GuestCpu::Effect GuestCpu::arm_data_processing(std::uint32_t word) {
    const bool immediate = is_set(word, 25);
    const bool flags = is_set(word, 20);
    const unsigned destination = field(word, 15, 12);
    const unsigned opcode = field(word, 24, 21);
    const std::uint32_t first = get(field(word, 19, 16));
    const std::uint32_t imm16 = field(word, 19, 16) << 12 | field(word, 11, 0);
    if (immediate && !flags && opcode == 8) return set(destination, imm16), Effect::next;
    if (immediate && !flags && opcode == 10)
        return set(destination, (get(destination) & 0xffff) | imm16 << 16), Effect::next;
    const std::uint32_t second =
        immediate ? std::rotr(field(word, 7, 0), static_cast<int>(2 * field(word, 11, 8)))
                  : get(field(word, 3, 0)) << field(word, 11, 7);
    std::uint32_t result = 0;
    switch (opcode) {
    case 0: result = first & second; break;
    case 3: result = second - first; break;
    case 12: result = first | second; break;
    case 2: result = add(first, second, true, flags && destination != 15); break;
    case 4: result = add(first, second, false, flags); break;
    case 10: add(first, second, true, true); return Effect::next;
    case 13: result = second; break;
    default: undefined(); return Effect::trapped;
    }
    if (destination == 15) return flags ? return_from_exception(result) : branch(result);
    set(destination, result);
    return Effect::next;
}

GuestCpu::Effect GuestCpu::arm_load_store(std::uint32_t word) {
    const std::uint32_t offset =
        is_set(word, 25) ? get(field(word, 3, 0)) << field(word, 11, 7) : field(word, 11, 0);
    const unsigned base = field(word, 19, 16);
    const std::uint32_t moved = is_set(word, 23) ? get(base) + offset : get(base) - offset;
    const bool indexed = is_set(word, 24);
    return transfer({.load = is_set(word, 20),
                     .log2_size = is_set(word, 22) ? 0u : 2u,
                     .sign = false,
                     .reg = field(word, 15, 12),
                     .address = indexed ? moved : get(base),
                     .base = base,
                     .base_after = moved,
                     .writeback = !indexed || is_set(word, 21)});
}

GuestCpu::Effect GuestCpu::arm_extra_load_store(std::uint32_t word) {
    const std::uint32_t offset =
        is_set(word, 22) ? field(word, 11, 8) << 4 | field(word, 3, 0) : get(field(word, 3, 0));
    const unsigned base = field(word, 19, 16);
    const std::uint32_t moved = is_set(word, 23) ? get(base) + offset : get(base) - offset;
    const bool indexed = is_set(word, 24);
    const bool writeback = !indexed || is_set(word, 21);
    const std::uint32_t address = indexed ? moved : get(base);
    const unsigned kind = field(word, 6, 5);
    const unsigned reg = field(word, 15, 12);
    const bool load_bit = is_set(word, 20);
    if (!load_bit && kind >= 2) // LDRD, STRD
        return transfer_many(kind == 2, base, address, 3u << reg, moved, writeback);
    return transfer({.load = load_bit,
                     .log2_size = kind == 2 ? 0u : 1u,
                     .sign = kind >= 2,
                     .reg = reg,
                     .address = address,
                     .base = base,
                     .base_after = moved,
                     .writeback = writeback});
}

/// LDM and STM (A8.8.58 to A8.8.61).
GuestCpu::Effect GuestCpu::arm_block(std::uint32_t word) {
    const std::uint32_t list = field(word, 15, 0);
    const unsigned base = field(word, 19, 16);
    const bool up = is_set(word, 23);
    const std::uint32_t bytes = 4 * static_cast<std::uint32_t>(std::popcount(list));
    const std::uint32_t after = up ? get(base) + bytes : get(base) - bytes;
    const std::uint32_t beside =
        is_set(word, 24) == up ? 4 : 0; // increment before, decrement after
    return transfer_many(is_set(word, 20), base, (up ? get(base) : after) + beside, list, after,
                         is_set(word, 21));
}

/// HDCR.TDRA, TDOSA and TDA trap the debug registers: addresses, the OS locks and power, the others
/// (B4.1.66).
bool GuestCpu::debug_register_traps(std::uint32_t word) const {
    if (field(word, 11, 8) != 14 || field(word, 23, 21) != 0) return false;
    const std::uint32_t hdcr = core_.system.get<reg::HDCR>();
    const unsigned crn = field(word, 19, 16);
    const unsigned opc2 = field(word, 7, 5);
    if (opc2 == 0 && (crn == 1 || crn == 2)) return (hdcr & arch::hdcr_tdra) != 0;
    if (opc2 == 4 && crn == 1) return (hdcr & arch::hdcr_tdosa) != 0;
    return (hdcr & arch::hdcr_tda) != 0;
}

/// MRC, MCR: the guest sees VMPIDR for MPIDR; DCIMVAC is maintenance by address. HSTR takes
/// precedence (B1.14.12).
GuestCpu::Effect GuestCpu::coprocessor(std::uint32_t word) {
    const Encoding which = encode32(field(word, 11, 8), field(word, 23, 21), field(word, 19, 16),
                                    field(word, 3, 0), field(word, 7, 5));
    const unsigned reg = field(word, 15, 12);
    const bool debug = debug_register_traps(word);
    const bool by_hstr = field(word, 11, 8) == 15 &&
                         is_set(core_.system.get<reg::HSTR>() & 0xbfef, field(word, 19, 16));
    if (by_hstr || debug ||
        (which == encoding_of<reg::ACTLR>() && (core_.system.get<reg::HCR>() & arch::hcr_tac) != 0))
        return trap(debug ? 0x05 : 0x03,
                    1u << 24 | (word >> 28) << 20 | field(word, 7, 5) << 17 |
                        field(word, 23, 21) << 14 | field(word, 19, 16) << 10 | reg << 5 |
                        field(word, 3, 0) << 1 | (is_set(word, 20) ? 1 : 0),
                    true);
    if (which == encode32(15, 0, 7, 6, 1)) return maintain(get(reg));
    if (!is_set(word, 20) && (which & ~3u) == encoding_of<reg::ATS1CPR>())
        return translate_address(get(reg));
    if (!is_set(word, 20) && maintain_tlb(which, get(reg))) return Effect::next;
    if (!is_set(word, 20)) {
        sim_.write_register(which, get(reg));
        core_.system.settle(); // as early as possible: only Hyp's registers are tested late
    } else if (which == encoding_of<reg::MPIDR>()) set(reg, core_.system.get<reg::VMPIDR>());
    else set(reg, static_cast<std::uint32_t>(core_.system.get(which)));
    return Effect::next;
}

/// TLBIALLIS, TLBIMVAIS, TLBIASIDIS, TLBIMVAAIS (B4.2.2).
bool GuestCpu::maintain_tlb(Encoding which, std::uint32_t value) {
    using What = Invalidation::What;
    constexpr What whats[] = {What::vmid, What::address, What::asid, What::address_any_asid};
    for (unsigned n = 0; n < 4; ++n) {
        if (which != encode32(15, 0, 8, 3, n)) continue;
        sim_.point();
        sim_.broadcast(core_, {.what = whats[n], .va = value & 0xffff'f000, .asid = value & 0xff});
        return true;
    }
    return false;
}

/// CLREX, DSB, DMB, ISB: the guest's own stores to memory are visible at once.
GuestCpu::Effect GuestCpu::barrier(std::uint32_t word) {
    sim_.point();
    if (field(word, 7, 4) == 1) core_.monitor = false; // CLREX
    if (field(word, 7, 4) != 4) return Effect::next;
    sim_.complete_system();
    sim_.complete_broadcasts(core_);
    return Effect::next;
}

GuestCpu::Effect GuestCpu::change_state(bool enable, std::uint32_t aif) {
    core_.frame.psr = enable ? core_.frame.psr & ~aif : core_.frame.psr | aif;
    return Effect::next;
}

} // namespace mmioscope::sim
