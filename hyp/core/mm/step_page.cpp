#include "mm/step_page.hpp"

#include "base/check.hpp"
#include "port/memory.hpp"

#include <bit>

namespace mmioscope {

namespace {

constexpr unsigned levels = lpae::last_level - lpae::first_level;

constexpr std::uint32_t smc(bool thumb) {
    return thumb ? 0xf7f0'8000 : 0xe160'0070;
}

/// In memory the first halfword of a wide Thumb instruction comes first (ARM ARM A6.1).
void write_wide(std::uint16_t* to, std::uint32_t word, bool thumb) {
    const std::uint32_t ordered = thumb ? std::rotl(word, 16) : word;
    to[0] = static_cast<std::uint16_t>(ordered);
    to[1] = static_cast<std::uint16_t>(ordered >> 16);
}

} // namespace

bool StepPage::build(const View& shadow, TablePool& pool) {
    shadow_ = shadow;
    view_ = View(pool.alloc_changing());
    for (unsigned n = 0; n < levels; ++n) on_the_way_ = pool.alloc_changing();
    page_ = reinterpret_cast<std::uint16_t*>(pool.alloc_changing());
    return page_ != nullptr;
}

/// The vectors may lie in the page, too.
void StepPage::write(const GuestInstruction& code, bool thumb_vectors) {
    constexpr std::uint32_t halfwords = page_size / 2;
    for (std::uint32_t n = 0; n < halfwords; n += 2)
        write_wide(page_ + n, smc(thumb_vectors), thumb_vectors);
    const auto at = static_cast<std::uint32_t>(code.at.value & (page_size - 1)) / 2;
    const std::uint32_t behind = at + (code.wide ? 2 : 1);
    if (code.wide) write_wide(page_ + at, code.word, code.thumb);
    else page_[at] = static_cast<std::uint16_t>(code.word);
    if (behind < halfwords) write_wide(page_ + behind, smc(code.thumb), code.thumb);
    // The guest may have its caches off. The DSB is also that of the stores to the tables.
    port::flush_to_coherency(port::address_of(page_), page_size);
}

void StepPage::put(const GuestInstruction& code, bool thumb_vectors) {
    TablePool own(on_the_way_, levels);
    view_.share(shadow_, own);
    check(view_.split({code.at.value, code.at.value + 1}, own), "a step's page has too few tables");
    const std::uint64_t page = port::address_of(page_).value;
    port::store_descriptor(view_.entry(code.at.value),
                           lpae::make_leaf(page, lpae::step_page, lpae::last_level));
    write(code, thumb_vectors);
}

} // namespace mmioscope
