#include "probes/code_pages.hpp"

#include "base/check.hpp"
#include "changing/live_tables.hpp"
#include "port/memory.hpp"
#include "trap/translate.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope {

BootError CodePages::start(Machine& machine, OwnerOps& ops, Range room) {
    machine_ = &machine;
    owner_ = machine.locks.take_page_owner({lpae::input_end, lpae::input_end}, ops);
    if (owner_ == nullptr) return {"no room for the owner of the pages with probes", ""};

    const std::uint64_t most = room.size() / (page_size + sizeof(Page));
    copies_ = page_ceil(room.begin + most * sizeof(Page));
    pages_ = {port::memory_at<Page>({room.begin}),
              static_cast<std::size_t>((room.end - copies_) / page_size)};
    for (Page& page : pages_) page = {.pa = no_page, .probes = 0, .waits = false};
    return {};
}

CodePages::Page* CodePages::find(std::uint32_t pa) const {
    if (machine_->pages.find(pa) != owner_) return nullptr;
    // Its leaf leads to its copy, unless it is hidden, or has none.
    const lpae::Descriptor* const leaf = machine_->normal(0).entry(pa);
    if (leaf != nullptr) {
        const std::uint64_t number = (lpae::output_address(*leaf) - copies_) / page_size;
        Page* const page = pages_.data() + static_cast<std::size_t>(number);
        if (number < pages_.size() && page->pa == page_floor(pa)) return page;
    }
    const auto page = std::ranges::find(pages_, page_floor(pa), &Page::pa);
    return page != pages_.end() ? &*page : nullptr;
}

std::uint32_t* CodePages::at(const Page& page, std::uint32_t pa) const {
    const auto frame = static_cast<std::uint64_t>(&page - pages_.data()) * page_size;
    return port::memory_at<std::uint32_t>({copies_ + frame + (pa & ~3u) % page_size});
}

void CodePages::map(const Page& page, lpae::Descriptor leaf) {
    LiveTables tables(*machine_, integrity_);
    check(tables.map(views_of_cpus(*machine_), page.pa, leaf), "a page with probes cannot change");
}

void CodePages::own(const Page& page, const Owner* owner) {
    const auto store = [this](std::uint32_t& word, std::uint32_t value) {
        integrity_.store_sealed(word, value);
    };
    check(machine_->pages.give(page.pa, owner, machine_->pool, store), "no room in the page index");
}

CodePages::Page* CodePages::take(std::uint32_t pa, bool waits) {
    constexpr unsigned tables_for_index = 1; // the one that LiveTables needs is refused by itself
    const auto page = std::ranges::find(pages_, no_page, &Page::pa);
    if (page == pages_.end() || !in_memory(machine_->guest_memory, {pa}) ||
        machine_->span_at({pa}) != nullptr || machine_->pool.left() <= tables_for_index)
        return nullptr;
    const auto at = static_cast<std::uint32_t>(page_floor(pa));
    if (!LiveTables(*machine_, integrity_).map(views_of_cpus(*machine_), at, 0)) return nullptr;
    *page = {.pa = at, .probes = 0, .waits = waits};
    own(*page, owner_);
    if (waits) std::memset(this->at(*page, 0), 0, page_size);
    else copy(*page);
    return &*page;
}

void CodePages::settle(Page& page) {
    if (page.probes != 0) {
        const auto copy = port::address_of(at(page, 0));
        return map(page, page.waits
                             ? lpae::make_leaf(page.pa, lpae::guest_data, lpae::last_level)
                             : lpae::make_leaf(copy.value, lpae::step_page, lpae::last_level));
    }
    map(page, lpae::make_leaf(page.pa, lpae::guest_memory, lpae::last_level));
    own(page, nullptr);
    LiveTables(*machine_, integrity_).join(page.pa);
    page.pa = no_page;
}

void CodePages::copy(Page& page) {
    std::uint32_t* const to = at(page, 0);
    check(read_guest_memory(*machine_, {page.pa}, {to, page_size / 4}), "a page is no memory");
    port::flush_to_coherency(port::address_of(to), page_size);
    page.waits = false;
}

void CodePages::set(const Page& page, std::uint32_t pa, std::uint32_t word) {
    std::uint32_t* const to = at(page, pa);
    *to = word;
    port::flush_to_coherency(port::address_of(to), sizeof word);
}

void CodePages::renew(const Page& page, std::uint32_t pa) {
    std::uint32_t word = 0;
    check(read_guest_memory(*machine_, {pa & ~3u}, {&word, 1}), "a page is no memory");
    set(page, pa, word);
}

} // namespace mmioscope
