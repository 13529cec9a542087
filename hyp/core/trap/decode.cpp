#include "trap/decode.hpp"

#include "arch/instruction.hpp"
#include "guest/banks.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "trap/split.hpp"
#include "trap/translate.hpp"

namespace mmioscope {

const AccessForm unknown_form;

namespace {

/// Where the access to beat.va leads: usually to the page of the fault, and its span, else where
/// the guest's translation says. The address of a walk is that of the table. `fault` notes if it is
/// beyond its span.
void locate(Cpu& cpu, const Frame& frame, DeviceAccess& fault, Beat& beat) {
    const bool same_page =
        page_floor(beat.va.value) == page_floor(fault.va.value) && !fault.stage1_walk;
    const PhysicalAddress here{page_floor(fault.pa.value) | (beat.va.value & (page_size - 1))};
    const auto pa = same_page ? here : translate(cpu, frame, beat.va, beat.write);
    const bool same_span = same_page && beat.va >= fault.va && fault.span != nullptr &&
                           here.value < fault.span->range.end;
    beat.unmapped = !pa;
    beat.pa = pa.value_or(PhysicalAddress{});
    beat.span = same_span ? fault.span : pa ? cpu.machine->span_at(*pa) : nullptr;
    if (beat.span != fault.span) fault.beyond = 1;
}

/// A base register's value in an address: PC is that of the next instruction but one (A2.3),
/// aligned.
std::uint32_t base_value(const Frame& frame, const arch::Address& address) {
    if (address.base_mode != 0) return stack_pointer(static_cast<arch::Mode>(address.base_mode));
    if (address.base != arch::pc) return guest_register(frame, address.base);
    return (frame.pc + (in_thumb(frame) ? 4 : 8)) & ~3u;
}

/// Whether it is one access to a core register, so that the trap's address is its address.
bool is_plain(const arch::Instruction& i) {
    return i.beats == 1 && i.bank == arch::Bank::core && !i.exclusive;
}

/// Elements that fill registers consecutively are accesses of the element's size (A3.5.3). QEMU
/// moves whole registers by words instead, unless the order of elements in a word matters.
void join_elements(arch::Instruction& i, const Frame& frame, VirtualAddress first) {
    const bool big_endian = (frame.psr & arch::psr_e) != 0;
    if (!i.consecutive || i.log2_size >= 2 || big_endian || first.value % 4 != 0) return;
    i.beats = static_cast<std::uint8_t>(i.beats << i.log2_size >> 2);
    i.log2_size = 2;
    for (unsigned n = 0; n < i.beats; ++n)
        i.place[n] = static_cast<std::uint8_t>(i.place[0] + 4 * n);
}

/// Makes `beat`, the last one of the list yet, the accesses of its bytes. The last of these; null: no
/// room, or not all of them can be located.
[[gnu::noinline]] Beat* split(Cpu& cpu, const Frame& frame, DeviceAccess& access, Beat* beat) {
    const bool big_endian = (frame.psr & arch::psr_e) != 0;
    const Beat whole = *beat;
    const unsigned size = 1u << whole.log2_size;
    if (std::end(cpu.trapped.beats) - beat < static_cast<int>(size)) return nullptr;
    for (unsigned n = 0; n < size; ++n, ++beat) {
        *beat = {.va = whole.va + n, .write = whole.write, .log2_size = 0, .place = whole.place};
        locate(cpu, frame, access, *beat);
        if (beat->unmapped) return nullptr;
        beat->byte = static_cast<std::uint8_t>(big_endian ? size - 1 - n : n);
        beat->value = whole.value >> 8 * beat->byte;
    }
    access.sign_extend = false;
    return beat - 1;
}

/// Fills in cpu.trapped.beats and access.beats. False if a value cannot be read, or if the fetched
/// word is not the instruction that trapped any more.
bool list_beats(Cpu& cpu, const Frame& frame, const arch::Instruction& i, VirtualAddress first,
                DeviceAccess& access) {
    const bool swap = i.load && i.store;
    const unsigned count = i.beats, log2_size = i.log2_size;
    const arch::Bank bank = i.bank;
    const std::uint32_t step = swap ? 0 : 1u << log2_size;
    if (access.va - first >= (swap ? 1 : count) << log2_size) return false;
    // Of a 64-bit value in big-endian the upper word comes first.
    const unsigned other_word = i.pairs && (frame.psr & arch::psr_e) != 0 ? 4 : 0;
    bool write = i.store && !swap, cut = false;
    Beat* beat = cpu.trapped.beats;
    for (unsigned n = 0; n < count; ++n, ++beat, first = first + step, write |= swap) {
        if (beat == std::end(cpu.trapped.beats)) return false;
        beat->va = first;
        beat->write = write;
        beat->log2_size = static_cast<std::uint8_t>(log2_size);
        beat->place = static_cast<std::uint8_t>(i.place[n] ^ other_word);
        beat->byte = 0;
        locate(cpu, frame, access, *beat);
        cut |= beat->unmapped;
        const auto value = banked_value(frame, bank, beat->place, log2_size);
        if (!value) return false;
        beat->value = *value;
        if (!is_split(*cpu.machine, *beat)) continue;
        beat = split(cpu, frame, access, beat);
        if (beat == nullptr) return false;
    }
    access.beats = static_cast<std::uint8_t>(beat - cpu.trapped.beats);
    cpu.trapped.cut = cut;
    return true;
}

/// Completes `access` from the fetched instruction, a load or store.
void from_instruction(Cpu& cpu, const Frame& frame, arch::Instruction& i, DeviceAccess& access) {
    const bool walk = access.stage1_walk;
    access.write = i.store;
    access.sign_extend = i.sign_extend;
    access.log2_size = i.log2_size;
    if (i.exclusive) [[unlikely]] {
        access.exclusive = !walk; // that is stepped, like any other
        access.status = i.status;
    }
    if (i.beats == 0) return;                   // UNPREDICTABLE, LDC or STC: no more is known
    if (walk && i.exclusive && i.store) return; // it may store nothing
    const bool plain = is_plain(i);
    const bool at_va = plain && walk; // HDFAR is the address that the walk was for
    if (!plain || at_va || may_be_split(frame, access, i.log2_size)) {
        if (plain) arch::set_address(i, cpu.step.code.word, in_thumb(frame));
        const VirtualAddress first = at_va ? access.va : first_address(frame, i.address);
        join_elements(i, frame, first);
        access.log2_size = i.log2_size;
        if (!list_beats(cpu, frame, i, first, access)) return;
        access.listed = !plain || at_va || access.beats > 1;
        access.bank = i.bank;
    }
    access.decoded = true;
    access.reg = i.place[0];
    access.plain = !access.listed && !walk;
    if (i.store && !access.listed) access.value = guest_register(frame, access.reg);
}

/// SMC is undefined at PL0, and in an IT block it may be UNPREDICTABLE (B9.3.14). The page has no
/// code of Jazelle or ThumbEE.
bool may_step_on_page(const Frame& frame) {
    return arch::mode_of(frame.psr) != arch::Mode::usr &&
           (frame.psr & (arch::psr_it | arch::psr_j)) == 0;
}

/// Whether an access is to the page of the instruction, where another one is in the step.
bool reaches_code(const Cpu& cpu) {
    for (unsigned n = 0; n < cpu.trapped.access.beats; ++n) {
        const Beat beat = cpu.trapped.beat(n);
        if (!beat.unmapped && page_floor(beat.pa.value) == page_floor(cpu.step.code.at.value))
            return true;
    }
    return false;
}

} // namespace

bool is_over_border(const Frame& frame, const DeviceAccess& access, unsigned size) {
    const std::uint32_t offset = access.va.value & (page_size - 1);
    // If the page before cannot be read, no access has begun there.
    if (offset == 0) return size > 1 && !is_unmapped(frame, {access.va.value - 1});
    return offset + size > page_size ||
           (access.span != nullptr && access.span->range.end - access.pa.value < size);
}

VirtualAddress first_address(const Frame& frame, const arch::Address& address) {
    std::uint32_t index = 0;
    if (address.index != arch::Address::no_index)
        index = arch::shifted(guest_register(frame, address.index), address.shift,
                              (frame.psr & arch::psr_c) != 0);
    return {base_value(frame, address) + (address.subtract_index ? 0 - index : index) +
            static_cast<std::uint32_t>(address.offset)};
}

abi::FaultReason correct_register(const Machine& machine, const Frame& frame,
                                  DeviceAccess& access) {
    access.plain = false;
    const auto word = fetch_instruction(frame, machine);
    if (!word) return abi::FaultReason::undecodable;
    const arch::Instruction instruction = arch::decode(*word, true);
    if (!instruction.store || !is_plain(instruction)) return abi::FaultReason::undecodable;
    access.reg = instruction.place[0];
    access.value = guest_register(frame, access.reg);
    return abi::FaultReason::none;
}

abi::FaultReason decode_instruction(Cpu& cpu, const Frame& frame, DeviceAccess& access) {
    if (access.stage1_walk && cpu.trapped.by_cp15) { // MCR
        access.wide = true;
        return abi::FaultReason::none;
    }
    const auto word = fetch_instruction(frame, *cpu.machine);
    if (!word) return abi::FaultReason::undecodable;
    cpu.step.code.word = *word;
    arch::Instruction instruction = arch::decode(*word, in_thumb(frame));
    access.wide = instruction.wide;
    if (!instruction.accesses_memory()) return abi::FaultReason::undecodable;
    from_instruction(cpu, frame, instruction, access);
    if (!instruction.loads_pc) return abi::FaultReason::none;
    access.plain = false;
    return abi::FaultReason::loads_pc;
}

abi::FaultReason decode_split(Cpu& cpu, const Frame& frame, arch::Hsr hsr, DeviceAccess& access) {
    const abi::FaultReason why = decode_instruction(cpu, frame, access);
    const bool whole = access.decoded && !access.listed;
    return why == abi::FaultReason::none && whole ? decode_syndrome(cpu, frame, hsr, access) : why;
}

abi::FaultReason decode_for_page(Cpu& cpu, const Frame& frame) {
    using enum abi::FaultReason;
    DeviceAccess& access = cpu.trapped.access;
    if (access.stage1_walk || !may_step_on_page(frame)) return no_breakpoints;
    constexpr arch::Hsr describes_nothing;
    if (access.syndrome) {
        const abi::FaultReason why = decode_access(cpu, frame, describes_nothing, access);
        if (why != none) return why;
    }
    const auto at = translate(frame, {frame.pc});
    if (!at) return undecodable; // another CPU has unmapped the code since it was read
    if (!access.decoded || !StepPage::fits(frame.pc, access.wide)) return no_breakpoints;
    cpu.step.code.at = *at;
    cpu.step.code.thumb = in_thumb(frame);
    cpu.step.code.wide = access.wide;
    return reaches_code(cpu) ? no_breakpoints : none;
}

} // namespace mmioscope
