#include "probes/code_pages.hpp"

#include "base/check.hpp"
#include "changing/live_tables.hpp"
#include "port/memory.hpp"
#include "trap/translate.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope {

namespace {

/// What only this CPU has, by break-before-make: no other one needs to forget it.
void replace_own(Cpu& cpu, lpae::Descriptor& entry, lpae::Descriptor leaf) {
    port::store_half(entry, false, 0);
    port::complete_local(); // table walks see it
    cpu.view.forget();
    port::store_half(entry, false, leaf);
    port::publish_tables();
}

} // namespace

BootError CodePages::start(Machine& machine, OwnerOps& ops, Range room, Range more) {
    machine_ = &machine;
    owner_ = machine.locks.take_page_owner({lpae::input_end, lpae::input_end}, ops);
    if (owner_ == nullptr) return {"no room for the owner of the pages with probes", ""};

    const std::uint64_t most = (room.size() + more.size()) / (page_size + sizeof(Page));
    std::uint64_t copy = page_ceil(room.begin + most * sizeof(Page));
    pages_ = {port::memory_at<Page>({room.begin}),
              static_cast<std::size_t>((room.end - copy + more.size()) / page_size)};
    for (Page& page : pages_) {
        page = {.pa = no_page, .copy = static_cast<std::uint32_t>(copy)};
        copy = copy + page_size == room.end ? more.begin : copy + page_size;
    }
    return {};
}

/// From where its address says on.
template <class Is>
CodePages::Page* CodePages::first(std::uint32_t pa, Is is) const {
    constexpr std::uint32_t golden = 0x9e37'79b9; // spreads them; no division
    const std::uint64_t hash = static_cast<std::uint32_t>(pa / page_size) * golden;
    const auto begin = static_cast<std::size_t>(hash * pages_.size() >> 32);
    auto found = std::find_if(pages_.begin() + begin, pages_.end(), is);
    if (found == pages_.end()) found = std::find_if(pages_.begin(), pages_.end(), is);
    return found != pages_.end() ? &*found : nullptr;
}

CodePages::Page* CodePages::find(std::uint32_t pa) const {
    if (machine_->pages.find(pa) != owner_) return nullptr;
    return first(pa, [at = page_floor(pa)](const Page& page) { return page.pa == at; });
}

std::uint32_t* CodePages::at(const Page& page, std::uint32_t pa) const {
    return port::memory_at<std::uint32_t>({page.copy + (pa & ~3u) % page_size});
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
    Page* const page = first(pa, [](const Page& free) { return free.pa == no_page; });
    const Span* const span = machine_->span_at({pa});
    if (page == nullptr || !in_memory(machine_->guest_memory, {pa}) || span != nullptr ||
        machine_->pool.left() <= tables_for_index)
        return nullptr;
    const auto at = static_cast<std::uint32_t>(page_floor(pa));
    if (!LiveTables(*machine_, integrity_).map(views_of_cpus(*machine_), at, 0)) return nullptr;
    page->pa = at;
    page->waits = waits;
    own(*page, owner_);
    moving_.lend(at, true);
    if (waits) std::memset(this->at(*page, 0), 0, page_size);
    else copy(*page);
    return page;
}

void CodePages::settle(Page& page) {
    if (page.probes != 0) {
        return map(page, page.waits
                             ? lpae::make_leaf(page.pa, lpae::guest_data, lpae::last_level)
                             : lpae::make_leaf(page.copy, lpae::step_page, lpae::last_level));
    }
    map(page, moving_.at_first(page.pa));
    own(page, nullptr);
    moving_.lend(page.pa, false);
    LiveTables(*machine_, integrity_).join(page.pa);
    page.pa = no_page;
}

const View& CodePages::open(Cpu& cpu, std::uint32_t pa) {
    if (machine_->memory != MemoryOf::each_cpu) return machine_->original();
    lpae::Descriptor& entry = *cpu.normal->last_entry(pa);
    Lock& lock = page_locks.of({pa});
    if (!lock.try_acquire(cpu.number, RegionLocks::max_turns, cpu.ring.statistics().lock_spins))
        return *cpu.normal;
    const auto at = static_cast<std::uint32_t>(page_floor(pa));
    const Page* const page = find(pa);
    if (page == nullptr || page->waits) {
        lock.release();
        return *cpu.normal;
    }
    constexpr lpae::Attributes read_only = lpae::step_page; // a store there is another CPU's, too
    open_[cpu.number] = {at, entry};
    replace_own(cpu, entry, lpae::make_leaf(at, read_only, lpae::last_level));
    return *cpu.normal;
}

void CodePages::close(Cpu& cpu) {
    Open& open = open_[cpu.number];
    if (open.pa == 0) return;
    replace_own(cpu, *cpu.normal->last_entry(open.pa), open.copy);
    page_locks.of({open.pa}).release();
    open.pa = 0;
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
