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
std::optional<std::uint16_t> fetch_halfword(const Frame& frame, std::uint32_t va,
                                            const Machine& machine) {
    const auto pa = translate(frame, {va});
    if (!pa) return std::nullopt;
    if (in_memory(machine.guest_memory, *pa)) {
        port::flush_to_coherency(*pa, sizeof(std::uint16_t));
        return *port::memory_at<const std::uint16_t>(*pa);
    }
    if (!in_flash_or_sram(machine, *pa)) return std::nullopt;
    return static_cast<std::uint16_t>(port::device_read(*pa, 1));
}

} // namespace

// By halfwords, because a 32-bit Thumb instruction may cross a page boundary.
std::optional<std::uint32_t> fetch_instruction(const Frame& frame, const Machine& machine) {
    const auto first = fetch_halfword(frame, frame.pc, machine);
    if (!first) return std::nullopt;
    const bool thumb = in_thumb(frame);
    if (thumb && !arch::is_wide_thumb(*first)) return *first;
    const auto second = fetch_halfword(frame, frame.pc + 2, machine);
    if (!second) return std::nullopt;
    return thumb ? (std::uint32_t{*first} << 16) | *second
                 : (std::uint32_t{*second} << 16) | *first;
}

} // namespace mmioscope
