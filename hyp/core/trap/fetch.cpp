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
    return span != nullptr && !span->traced() && !span->withheld &&
           (machine.regions[span->region].flags & abi::region_memory) != 0;
}

/// Hyp maps flash as a device, so its cache never has an old copy of it. It maps RAM cacheable, and
/// may have read a line before a guest whose caches are off, or who maps its code uncached, wrote
/// the instruction. So the line is cleaned and invalidated first; if the guest's caches are on and
/// have it, it is written back (ARM ARM A3.5.7, mismatched memory attributes).
std::optional<std::uint32_t> fetch(const Frame& frame, std::uint32_t va, unsigned log2_size,
                                   const Machine& machine) {
    const auto pa = translate(frame, {va});
    if (!pa) return std::nullopt;
    if (in_memory(machine.guest_memory, *pa)) {
        port::flush_to_coherency(*pa, std::size_t{1} << log2_size);
        return log2_size == 2 ? *port::memory_at<const std::uint32_t>(*pa)
                              : *port::memory_at<const std::uint16_t>(*pa);
    }
    if (!in_flash_or_sram(machine, *pa)) return std::nullopt;
    return static_cast<std::uint32_t>(port::device_read(*pa, log2_size));
}

} // namespace

std::optional<std::uint32_t> fetch_instruction(const Frame& frame, const Machine& machine) {
    if (!in_thumb(frame)) return fetch(frame, frame.pc, 2, machine);
    // By halfwords, because a 32-bit instruction may cross a page boundary.
    const auto first = fetch(frame, frame.pc, 1, machine);
    if (!first || !arch::is_wide_thumb(static_cast<std::uint16_t>(*first))) return first;
    const auto second = fetch(frame, frame.pc + 2, 1, machine);
    if (!second) return std::nullopt;
    return *first << 16 | *second;
}

} // namespace mmioscope
