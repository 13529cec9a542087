#include "unprotect/shared_page.hpp"

#include "base/check.hpp"
#include "changing/live_tables.hpp"
#include "port/memory.hpp"

namespace mmioscope {

namespace {

using lpae::Descriptor;

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

/// `range` is a page, or a block of level 2.
bool add_closed(TranslationTable& normal, const TranslationTable& open, Range range,
                TablePool& pool) {
    const Descriptor leaf = open.lookup(range.begin);
    if (!lpae::is_valid(leaf)) return true; // withheld: never opened
    if (!normal.map(range, lpae::attributes_of(leaf), pool)) return false;
    Descriptor& entry = shared_descriptor(normal, range.begin);
    port::store_descriptor(&entry, entry & ~lpae::valid);
    return true;
}

/// What is opened at once for an access at `page`: a whole block if all of it is one device's. A
/// page each would take more tables than there are for a PCI host's windows.
Range opened_at(std::uint64_t page, Range device) {
    constexpr std::uint64_t block_size = lpae::level_size(lpae::last_level - 1);
    const Range block{page, page + block_size};
    return page % block_size == 0 && device.contains(block) ? block : Range{page, page + page_size};
}

} // namespace

bool add_shared_pages(TranslationTable& normal, const TranslationTable& open, const RegionMap& map,
                      TablePool& pool) {
    for (const Span& span : map) {
        const std::uint64_t end = page_ceil(span.range.end);
        if (end > lpae::input_end) continue;
        for (std::uint64_t at = page_floor(span.range.begin); at < end;) {
            const Range range = opened_at(at, span.range);
            if (map.page_trapped({at}) && !add_closed(normal, open, range, pool)) return false;
            at = range.end;
        }
    }
    return true;
}

Descriptor& shared_descriptor(const TranslationTable& normal, std::uint64_t address) {
    Descriptor& entry = normal.leaf(address);
    check(entry != 0, "a page that traps has no shared descriptor");
    return entry;
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
