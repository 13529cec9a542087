#include "trap/fetch.hpp"

#include "arch/instruction.hpp"
#include "guest/registers.hpp"
#include "port/barrier.hpp"
#include "port/memory.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

/// Stage 1 of the guest for a read by its current mode (ATS1CPR, ATS1CUR; ARM ARM B3.12.7). PAR is
/// the guest's and is put back. The other CPUs may change the tables meanwhile: that is no harm,
/// the guest raced with itself.
std::optional<PhysicalAddress> translate(const Frame& frame, std::uint32_t va) {
    const std::uint64_t kept = port::read<reg::PAR>();
    if (arch::mode_of(frame.psr) == arch::Mode::usr) port::write<reg::ATS1CUR>(va);
    else port::write<reg::ATS1CPR>(va);
    port::synchronize_context();
    const std::uint64_t par = port::read<reg::PAR>();
    port::write<reg::PAR>(kept);
    constexpr std::uint64_t failed = 1;
    if ((par & failed) != 0) return std::nullopt;
    constexpr std::uint64_t page_mask = 0xff'ffff'f000;
    return PhysicalAddress{(par & page_mask) | (va & (page_size - 1))};
}

std::optional<std::uint16_t> fetch_halfword(const Frame& frame, std::uint32_t va,
                                            const MemoryMap& memory) {
    const auto pa = translate(frame, va);
    if (!pa) return std::nullopt;
    for (const Range& range : memory)
        if (range.contains(pa->value)) return *port::memory_at<const std::uint16_t>(*pa);
    return std::nullopt;
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
