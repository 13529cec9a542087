#include "trap/decode.hpp"

#include "arch/instruction.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "trap/fetch.hpp"
#include "trap/translate.hpp"

namespace mmioscope {

namespace {

constexpr unsigned pc = 15;

abi::FaultReason from_syndrome(arch::Hsr hsr, DeviceAccess& access) {
    access.decoded = access.syndrome = true;
    access.log2_size = hsr.log2_size();
    access.reg = hsr.srt();
    access.sign_extend = hsr.sign_extend();
    access.wide = hsr.il();
    return !access.write && access.reg == pc ? abi::FaultReason::loads_pc : abi::FaultReason::none;
}

/// Where `va` goes: most often the page of the fault, else as the guest's tables say.
Beat locate(const Machine& machine, const Frame& frame, const DeviceAccess& fault,
            VirtualAddress va) {
    Beat beat{.va = va};
    if (page_floor(va.value) == page_floor(fault.va.value))
        beat.pa = {page_floor(fault.pa.value) | (va.value & (page_size - 1))};
    else if (const auto pa = translate(frame, va)) beat.pa = *pa;
    else return beat;
    beat.span = machine.map.find(beat.pa);
    return beat;
}

/// A base register as the instruction adds to it: PC is that of the next but one (A2.3), aligned.
std::uint32_t base_value(const Frame& frame, const arch::Address& address) {
    if (address.base != pc) return guest_register(frame, address.base);
    return (frame.pc + (in_thumb(frame) ? 4 : 8)) & ~3u;
}

/// The address of the first word, which HDFAR holds only if it was the one that trapped.
VirtualAddress first_address(const Frame& frame, const arch::Address& address) {
    std::uint32_t index = 0;
    if (address.index != arch::Address::no_index) index = guest_register(frame, address.index);
    return {base_value(frame, address) + (address.subtract_index ? 0 - index : index) +
            static_cast<std::uint32_t>(address.offset)};
}

/// Moves core registers of the current mode, in one direction, unconditionally.
bool moves_core_registers(const arch::Instruction& i) {
    return i.beats != 0 && i.bank == arch::Bank::core && !i.exclusive && !(i.load && i.store) &&
           i.address.base_mode == 0;
}

void list_beats(Cpu& cpu, const Frame& frame, const arch::Instruction& instruction,
                DeviceAccess& access) {
    const VirtualAddress first = first_address(frame, instruction.address);
    for (unsigned n = 0; n < instruction.beats; ++n) {
        Beat& beat = cpu.step.beats[n];
        beat = locate(*cpu.machine, frame, access, first + 4 * n);
        beat.reg = instruction.place[n];
        if (access.write) beat.value = guest_register(frame, beat.reg);
    }
}

} // namespace

abi::FaultReason decode_access(Cpu& cpu, const Frame& frame, arch::Hsr hsr, DeviceAccess& access) {
    if (hsr.isv()) return from_syndrome(hsr, access);
    const auto word = fetch_instruction(frame, cpu.machine->guest_memory);
    if (!word) return abi::FaultReason::undecodable;
    const arch::Instruction instruction = arch::decode(*word, in_thumb(frame));
    access.wide = instruction.wide;
    if (access.stage1_walk) return abi::FaultReason::none; // any instruction may need a walk
    if (!instruction.accesses_memory()) return abi::FaultReason::undecodable;
    if (instruction.loads_pc) return abi::FaultReason::loads_pc;
    access.log2_size = instruction.log2_size;
    access.sign_extend = instruction.sign_extend;
    access.decoded = moves_core_registers(instruction);
    access.reg = instruction.place[0];
    if (access.decoded && instruction.beats > 1) {
        access.beats = instruction.beats;
        list_beats(cpu, frame, instruction, access);
    }
    return abi::FaultReason::none;
}

} // namespace mmioscope
