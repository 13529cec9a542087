// Finds out what the trapped instruction does with the device.
#pragma once

#include "abi/record.hpp"
#include "arch/hsr.hpp"
#include "guest/registers.hpp"
#include "machine/cpu.hpp"
#include "trap/split.hpp"

namespace mmioscope {

/// Of an access of which nothing is known. GCC copies it in place, because its value is not
/// visible; else it would call functions to build it.
extern const AccessForm unknown_form;

/// The address of an instruction's first access; HDFAR has it only if that is the one that trapped.
VirtualAddress first_address(const Frame& frame, const arch::Address& address);

/// Completes `access` from the instruction. As decode_access().
abi::FaultReason decode_instruction(Cpu& cpu, const Frame& frame, DeviceAccess& access);
/// Erratum: HSR describes the store except for the register, which is taken from the instruction.
abi::FaultReason correct_register(const Machine& machine, const Frame& frame, DeviceAccess& access);

inline abi::FaultReason decode_syndrome(Cpu& cpu, const Frame& frame, arch::Hsr hsr,
                                        DeviceAccess& access) {
    access.decoded = access.syndrome = true;
    access.plain = !hsr.stage1_walk();
    access.log2_size = hsr.log2_size();
    access.reg = hsr.srt();
    access.sign_extend = hsr.sign_extend();
    access.wide = hsr.il();
    if (!hsr.write()) return abi::FaultReason::none;
    access.value = guest_register(frame, access.reg);
    if (!cpu.mistakes_thumb_stores || !in_thumb(frame)) return abi::FaultReason::none;
    return correct_register(*cpu.machine, frame, access);
}

/// Completes `access`, which HSR describes but which may_be_split().
abi::FaultReason decode_split(Cpu& cpu, const Frame& frame, arch::Hsr hsr, DeviceAccess& access);

inline abi::FaultReason decode_described(Cpu& cpu, const Frame& frame, arch::Hsr hsr,
                                         DeviceAccess& access) {
    if (may_be_split(frame, access, hsr.log2_size())) [[unlikely]]
        return decode_split(cpu, frame, hsr, access);
    return decode_syndrome(cpu, frame, hsr, access);
}

/// Completes `access` from the syndrome (HSR) if that describes everything, else from the
/// instruction; puts several accesses of one instruction in cpu.trapped.beats. Returns
/// FaultReason::none, or why the access cannot be carried out: the instruction cannot be read, is
/// no load or store, or loads PC.
[[gnu::always_inline]] inline abi::FaultReason decode_access(Cpu& cpu, const Frame& frame,
                                                             arch::Hsr hsr, DeviceAccess& access) {
    // As a store's register PC may be UNPREDICTABLE.
    const bool described = hsr.isv() && hsr.srt() != arch::pc;
    if (described) [[likely]]
        return decode_described(cpu, frame, hsr, access);
    return decode_instruction(cpu, frame, access);
}

/// Completes cpu.step.code for cpu.trapped.access, so that what is stepped is what was decoded,
/// even if the guest rewrites it. Returns FaultReason::none, or why it cannot be stepped on a page
/// of the hypervisor's.
[[nodiscard]] abi::FaultReason decode_for_page(Cpu& cpu, const Frame& frame);

} // namespace mmioscope
