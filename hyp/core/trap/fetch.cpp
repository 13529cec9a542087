#include "trap/fetch.hpp"

#include "arch/instruction.hpp"
#include "guest/registers.hpp"
#include "port/device.hpp"
#include "port/memory.hpp"
#include "trap/translate.hpp"

namespace mmioscope {

namespace {

/// Memory that is described as a device, from which firmware may run.
bool in_flash_or_sram(const Machine& machine, PhysicalAddress pa) {
    const Span* span = machine.map.find(pa);
    return span != nullptr && !span->traps() && !in_memory(machine.no_map, pa) && span->memory;
}

/// Whether the guest's memory has `size` bytes at `pa`, on one page; then they are clean. Both maps
/// consist of whole pages. A read does not look into the caches (ARM ARM A3.5.7: by address, to the
/// point of coherency, and a DSB). A line that the guest makes dirty between is a race of the
/// guest's, as with any other reader.
[[gnu::always_inline]] inline bool is_readable(const Machine& machine, PhysicalAddress pa,
                                               std::size_t size) {
    if (!in_memory(machine.guest_memory, pa) || in_memory(machine.no_map, pa)) return false;
    port::flush_to_coherency(pa, size);
    return true;
}

/// Hyp maps flash as a device, so its cache never has an old copy of it.
/// A PC that is no multiple of an instruction's size is UNPREDICTABLE (ARM ARM A8.8.27).
template <class Size>
[[gnu::always_inline]] inline std::optional<std::uint32_t>
fetch(const Frame& frame, std::uint32_t va, const Machine& machine) {
    const auto pa = translate(frame, {va & ~std::uint32_t{sizeof(Size) - 1}});
    if (!pa) return std::nullopt;
    if (is_readable(machine, *pa, sizeof(Size))) return *port::memory_at<const Size>(*pa);
    if (!in_flash_or_sram(machine, *pa)) return std::nullopt;
    return static_cast<std::uint32_t>(port::device_read(*pa, sizeof(Size) / 2));
}

std::optional<std::uint32_t> fetch_halfword(const Frame& frame, std::uint32_t va,
                                            const Machine& machine) {
    return fetch<std::uint16_t>(frame, va, machine);
}

} // namespace

std::optional<std::uint32_t> fetch_instruction(const Frame& frame, const Machine& machine) {
    if (!in_thumb(frame)) return fetch<std::uint32_t>(frame, frame.pc, machine);
    // By halfwords, because a 32-bit instruction may cross a page boundary.
    const auto first = fetch_halfword(frame, frame.pc, machine);
    if (!first || !arch::is_wide_thumb(static_cast<std::uint16_t>(*first))) return first;
    const auto second = fetch_halfword(frame, frame.pc + 2, machine);
    if (!second) return std::nullopt;
    return *first << 16 | *second;
}

bool read_guest_memory(const Machine& machine, PhysicalAddress pa, std::span<std::uint32_t> to) {
    if (!is_readable(machine, pa, to.size_bytes())) return false;
    for (std::uint32_t& word : to) {
        word = *port::memory_at<const std::uint32_t>(pa);
        pa = pa + sizeof word;
    }
    return true;
}

} // namespace mmioscope
