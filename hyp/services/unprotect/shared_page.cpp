#include "unprotect/shared_page.hpp"

#include "base/check.hpp"
#include "control/changing_pages.hpp"
#include "port/memory.hpp"

namespace mmioscope {

namespace {

using lpae::Descriptor;

constexpr std::uint64_t input_end = std::uint64_t{1} << 32;

constexpr Descriptor one_opener = Descriptor{1} << 55;
constexpr Descriptor openers = Descriptor{0xf} << 55;
static_assert(abi::max_cpus <= openers / one_opener);

/// The descriptor with `change` added to its openers; valid if any are left.
constexpr Descriptor changed(Descriptor entry, Descriptor change) {
    const Descriptor next = (entry + change) & ~lpae::valid;
    return (next & openers) != 0 ? next | lpae::valid : next;
}

void change_openers(Descriptor& entry, Descriptor change) {
    // A try fails only if another CPU has changed the descriptor, which is seldom: its step
    // follows.
    constexpr unsigned most_tries = 100'000;
    Descriptor seen = entry;
    for (unsigned tries = 0; tries < most_tries; ++tries)
        if (port::exchange_descriptor(&entry, seen, changed(seen, change))) return;
    panic("a shared page's descriptor keeps changing");
}

bool add_page(TranslationTable& normal, const TranslationTable& open, Range page, TablePool& pool) {
    const Descriptor leaf = open.lookup(page.begin);
    if (!lpae::is_valid(leaf)) return true; // withheld: never opened
    if (!normal.map(page, lpae::attributes_of(leaf), pool)) return false;
    Descriptor* entry = normal.page_entry(page.begin);
    check(entry != nullptr, "a page was mapped without a descriptor of its own");
    port::store_descriptor(entry, *entry & ~lpae::valid);
    return true;
}

} // namespace

bool add_shared_pages(TranslationTable& normal, const TranslationTable& open, const RegionMap& map,
                      TablePool& pool) {
    for (const Span& span : map) {
        const std::uint64_t end = page_ceil(span.range.end);
        if (end > input_end) continue;
        for (std::uint64_t page = page_floor(span.range.begin); page < end; page += page_size)
            if (map.page_trapped({page}) && !add_page(normal, open, {page, page + page_size}, pool))
                return false;
    }
    return true;
}

void open_shared_page(Descriptor& entry) {
    change_openers(entry, one_opener);
    forget_on_all_cpus();
}

void close_shared_page(Descriptor& entry) {
    check((entry & openers) != 0, "a shared page was closed twice");
    change_openers(entry, ~one_opener + 1);
    forget_on_all_cpus();
}

} // namespace mmioscope
