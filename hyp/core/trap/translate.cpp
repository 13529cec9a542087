#include "trap/translate.hpp"

#include "arch/instruction.hpp"
#include "arch/psr.hpp"
#include "base/field.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/device.hpp"
#include "port/memory.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

// PAR in the format that Hyp gets (ARM ARM B4.1.112).
constexpr std::uint64_t failed = bit(0);
constexpr std::uint64_t by_stage2 = bit(11) | bit(9); // LPAE, FSTAGE: stage 2 stopped the walk
constexpr std::uint64_t page_mask = 0xff'ffff'f000;

constexpr bool stopped_by_stage2(std::uint64_t par) {
    return (par & failed) != 0 && (par & by_stage2) == by_stage2;
}

void begin_translation(const Frame& frame, VirtualAddress va, bool write) {
    const bool user = arch::mode_of(frame.psr) == arch::Mode::usr;
    if (write && user) port::write<reg::ATS1CUW>(va.value);
    else if (write) port::write<reg::ATS1CPW>(va.value);
    else if (user) port::write<reg::ATS1CUR>(va.value);
    else port::write<reg::ATS1CPR>(va.value);
}

// ARM ARM B3.12.7. PAR belongs to the guest and is restored. If other CPUs change the tables
// meanwhile, the guest races with itself, as without Hyp.
[[gnu::always_inline]] inline std::uint64_t result_of(const Frame& frame, VirtualAddress va,
                                                      bool write) {
    const std::uint64_t kept = port::read<reg::PAR>();
    begin_translation(frame, va, write);
    port::synchronize_context();
    const std::uint64_t par = port::read<reg::PAR>();
    port::write<reg::PAR>(kept);
    return par;
}

std::optional<PhysicalAddress> address_in(std::uint64_t par, VirtualAddress va) {
    if ((par & failed) != 0) return std::nullopt;
    return PhysicalAddress{(par & page_mask) | (va.value & (page_size - 1))};
}

/// translate(), where each instruction that is fetched comes by.
[[gnu::always_inline]] inline std::optional<PhysicalAddress> translate_here(const Frame& frame,
                                                                            VirtualAddress va) {
    return address_in(result_of(frame, va, false), va);
}

/// Memory that is described as a device, from which firmware may run.
bool in_flash_or_sram(const Machine& machine, PhysicalAddress pa) {
    const Span* span = machine.map.find(pa);
    return span != nullptr && !span->traps() && !in_memory(machine.no_map, pa) && span->memory;
}

/// Whether the guest's memory has `pa`. Both maps consist of whole pages. Before it is read it is
/// cleaned, since a read does not look into the caches (ARM ARM A3.5.7: by address, to the point of
/// coherency, and a DSB). A line that the guest makes dirty between is a race of the guest's, as
/// with any other reader.
[[gnu::always_inline]] inline bool is_readable(const Machine& machine, PhysicalAddress pa) {
    return in_memory(machine.guest_memory, pa) && !in_memory(machine.no_map, pa);
}

/// Hyp maps flash as a device, so its cache never has an old copy of it.
/// A PC that is no multiple of an instruction's size is UNPREDICTABLE (ARM ARM A8.8.27).
template <class Size>
[[gnu::always_inline]] inline std::optional<std::uint32_t>
fetch(const Frame& frame, std::uint32_t va, const Machine& machine) {
    va &= ~std::uint32_t{sizeof(Size) - 1};
    const auto pa = translate_here(frame, {va});
    if (!pa) return std::nullopt;
    if (is_readable(machine, *pa)) [[likely]] {
        port::flush_word_to_coherency(*pa);
        return *port::memory_at<const Size>(*pa);
    }
    if (!in_flash_or_sram(machine, *pa)) return std::nullopt;
    return static_cast<std::uint32_t>(port::device_read(*pa, sizeof(Size) / 2));
}

std::optional<std::uint32_t> fetch_halfword(const Frame& frame, std::uint32_t va,
                                            const Machine& machine) {
    return fetch<std::uint16_t>(frame, va, machine);
}

} // namespace

bool is_unmapped(const Frame& frame, VirtualAddress va) {
    const std::uint64_t par = result_of(frame, va, false);
    return (par & failed) != 0 && !stopped_by_stage2(par);
}

std::optional<PhysicalAddress> translate(const Frame& frame, VirtualAddress va) {
    return translate_here(frame, va);
}

std::optional<PhysicalAddress> translate_store(const Frame& frame, VirtualAddress va) {
    return address_in(result_of(frame, va, true), va);
}

// The step's table without breakpoints has another page in place of the guest's code, and its
// tables may lie there; but such a CPU steps no walk anyway.
std::optional<PhysicalAddress> translate(Cpu& cpu, const Frame& frame, VirtualAddress va,
                                         bool write) {
    std::uint64_t par = result_of(frame, va, write);
    for (const View* other : {cpu.shadow, static_cast<const View*>(&cpu.machine->original())}) {
        if (!stopped_by_stage2(par) || !cpu.debug.usable() || other->vttbr() == 0) break;
        cpu.view.enter(*other);
        par = result_of(frame, va, write);
        cpu.view.enter(*cpu.normal);
    }
    return address_in(par, va);
}

std::optional<std::uint32_t> fetch_instruction(const Frame& frame, const Machine& machine) {
    if (!in_thumb(frame)) return fetch<std::uint32_t>(frame, frame.pc, machine);
    // By halfwords, because a 32-bit instruction may cross a page boundary.
    const auto first = fetch_halfword(frame, frame.pc, machine);
    if (!first || !arch::is_wide_thumb(static_cast<std::uint16_t>(*first))) return first;
    const auto second = fetch_halfword(frame, frame.pc + 2, machine);
    return second ? std::optional(*first << 16 | *second) : std::nullopt;
}

bool read_guest_memory(const Machine& machine, PhysicalAddress pa, std::span<std::uint32_t> to) {
    if (!is_readable(machine, pa)) return false;
    port::flush_to_coherency(pa, to.size_bytes());
    for (std::uint32_t& word : to) {
        word = *port::memory_at<const std::uint32_t>(pa);
        pa = pa + sizeof word;
    }
    return true;
}

} // namespace mmioscope
