#include "trap/fetch.hpp"

#include "arch/instruction.hpp"
#include "guest/registers.hpp"
#include "port/memory.hpp"
#include "trap/translate.hpp"

namespace mmioscope {

namespace {

std::optional<std::uint16_t> fetch_halfword(const Frame& frame, std::uint32_t va,
                                            const MemoryMap& memory) {
    const auto pa = translate(frame, {va});
    if (!pa || !in_memory(memory, *pa)) return std::nullopt;
    return *port::memory_at<const std::uint16_t>(*pa);
}

} // namespace

// By halfwords: a 32-bit Thumb instruction may cross a page.
std::optional<std::uint32_t> fetch_instruction(const Frame& frame, const MemoryMap& memory) {
    const auto first = fetch_halfword(frame, frame.pc, memory);
    if (!first) return std::nullopt;
    const bool thumb = in_thumb(frame);
    if (thumb && !arch::is_wide_thumb(*first)) return *first;
    const auto second = fetch_halfword(frame, frame.pc + 2, memory);
    if (!second) return std::nullopt;
    return thumb ? (std::uint32_t{*first} << 16) | *second
                 : (std::uint32_t{*second} << 16) | *first;
}

} // namespace mmioscope
