#include "moving/moving_pages.hpp"

#include "abi/chosen.hpp"
#include "base/check.hpp"
#include "changing/live_tables.hpp"
#include "dt/regions.hpp"
#include "engine/record.hpp"
#include "start/setup.hpp"
#include "trap/fast_path.hpp"
#include "trap/translate.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace mmioscope {

using lpae::Descriptor;

namespace {

constexpr unsigned holds_each_second = 100'000; ///< 10 microseconds each
constexpr unsigned holds_of_soon = 100;         ///< 1 ms: moves that are nearer are too often
constexpr unsigned holds_free = 1000;           ///< 10 ms
constexpr unsigned most_records = 18;           ///< of one trap
constexpr lpae::Attributes read_only{(lpae::guest_memory.bits & ~lpae::s2_read_write) |
                                     lpae::s2_read_only};

std::uint32_t now() {
    return static_cast<std::uint32_t>(port::read<reg::CNTPCT>());
}

} // namespace

/// set() where the views have tables of their own. Seldom: kept out of what each trap executes.
[[gnu::noinline]] void MovingPages::set_in_each(unsigned cpu, std::uint32_t page, Descriptor leaf) {
    for (const View* view : {&machine_->normal(cpu), &machine_->shadow(cpu)})
        port::store_half(*view->last_entry(page), false, leaf);
}

/// What `cpu` has at a page, in both of its views. The upper words of all such descriptors are 0.
[[gnu::always_inline]] inline void MovingPages::set(unsigned cpu, std::uint32_t page,
                                                    Descriptor leaf) {
    const std::uint32_t first = tables_[page / block_size];
    if (first == 0) return set_in_each(cpu, page, leaf);
    auto* const table = port::memory_at<Descriptor>({first + cpu * std::uint32_t{page_size}});
    port::store_half(table[lpae::level_index(page, lpae::last_level)], false, leaf);
}

BootError MovingPages::configure(Machine& machine, Setup& setup) {
    const Tree& tree = setup.tree;
    const int chosen = tree.find("/chosen");
    on_ = tree.has(chosen, abi::chosen::pages);
    if (!on_) return {};
    machine.memory = MemoryOf::each_cpu;
    const Property list = tree.property(chosen, abi::chosen::pages);
    const bool limited = list.size % 8 == 4;
    if (list.size % 4 != 0) return {"mmioscope,pages must have two cells for each range", ""};
    if (limited) limit_ = list.cell(0);
    if (limit_ > 0xff || limit_ < limited) return {"mmioscope,pages: not 1 to 255 moves", ""};
    for (std::size_t n = limited; n < list.size / 4; n += 2) {
        const std::uint64_t begin = list.cell(n);
        const Range range{begin, begin + list.cell(n + 1)};
        if ((range.begin | range.end) % page_size != 0 || range.empty() ||
            range.end > lpae::input_end)
            return {"mmioscope,pages: not whole pages", ""};
        if (!ranges_.push_back(range)) return {"mmioscope,pages: too many ranges", ""};
    }
    if (ranges_.empty()) (void)ranges_.push_back({0, lpae::input_end});
    return {};
}

/// What lies between the image and the place of the boot loader's tree is nobody's.
bool MovingPages::add_to_tables(Machine& machine) {
    room_ = {page_ceil(machine.image.stacks.end), machine.image.boot_tree.begin};
    return !on_ || (machine.hyp_table.map(room_, lpae::hyp_data, machine.pool) &&
                    add_memory(machine.regions, machine.guest_memory, machine.own_memory));
}

/// Those of `range`, as far as there is a place for them.
void MovingPages::mark(Range range, bool ours) {
    const std::uint64_t end = std::min(page_ceil(range.end), all_.end);
    for (auto at = std::max(page_floor(range.begin), all_.begin); at < end; at += page_size)
        page_at(at).ours = ours;
}

/// All memory of the guest that was asked for, but nothing that is like a device, and nothing that
/// nobody may touch.
void MovingPages::mark_ours(const Machine& machine) {
    for (std::uint64_t at = all_.begin; at < all_.end; at += page_size) page_at(at) = {};
    for (const Range& range : ranges_)
        for (const Range& part : machine.guest_memory)
            mark({std::max(range.begin, part.begin), std::min(range.end, part.end)}, true);
    for (const Range& range : machine.no_map) mark(range, false);
    for (const Span& span : machine.map) mark(span.range, false);
}

/// Gives `entry` a table, not valid yet, in which nobody has a page that is ours. False: no room.
bool MovingPages::make_table(Descriptor& entry, std::uint64_t block) {
    if (room_.empty()) return false;
    room_.end -= page_size;
    auto* const table = port::memory_at<Descriptor>({room_.end});
    expand(entry, table_level, table);
    for (unsigned n = 0; n < lpae::table_entries; ++n)
        if (page_at(block + n * page_size).ours) table[n] = 0;
    entry = lpae::make_table(port::address_of(table)) & ~lpae::valid;
    return true;
}

/// Each CPU gets tables of its own for the block, one if its views have the same there. False: no
/// room.
bool MovingPages::make_tables(Machine& machine, std::uint64_t block) {
    bool all_alike = true;
    for (unsigned cpu = machine.cpu_count; cpu-- != 0;) {
        Descriptor& normal = *machine.normal(cpu).entry(block, table_level);
        Descriptor& shadow = *machine.shadow(cpu).entry(block, table_level);
        const bool alike = normal == shadow;
        if (!make_table(normal, block)) return false;
        all_alike &= alike;
        if (alike) shadow = normal;
        else if (!make_table(shadow, block)) return false;
    }
    if (all_alike) tables_[block / block_size] = static_cast<std::uint32_t>(room_.end);
    return true;
}

/// By break-before-make: this CPU may have walked the tables already. False: no room.
bool MovingPages::replace_tables(Machine& machine) {
    for (std::uint64_t at = all_.begin; at < all_.end; at += block_size) {
        const bool is_wanted =
            std::any_of(&page_at(at), &page_at(at) + lpae::table_entries,
                        [](const Page& page) { return page.ours; }) ||
            (machine.has_original && std::ranges::any_of(machine.guest_memory, [at](auto& part) {
                 return part.overlaps({at, at + block_size});
             }));
        if (is_wanted && !make_tables(machine, at)) return false;
    }
    forget_on_all_cpus();
    for (View& view : machine.all_views().first(2 * machine.cpu_count))
        for (std::uint64_t at = all_.begin; at < all_.end; at += block_size)
            if (auto* e = view.entry(at, table_level); e != nullptr && *e != 0) *e |= lpae::valid;
    return true;
}

BootError MovingPages::start(Machine& machine, const Setup&) {
    constexpr BootError no_room{"not enough room for pages that move: give fewer of them", ""};
    if (!on_) return {};
    if (auto e = LiveTables::objection(machine, 0)) return e;
    Range all{lpae::input_end, 0};
    for (const Range& part : machine.guest_memory)
        for (Range range : ranges_) {
            // A CPU's own copies of code (probes/) need tables of its own.
            if (machine.has_original) range = part;
            if (!range.overlaps(part)) continue;
            all = {std::min(all.begin, std::max(range.begin, part.begin)),
                   std::max(all.end, std::min(range.end, part.end))};
        }
    all = {all.begin & ~(block_size - 1), (all.end + block_size - 1) & ~(block_size - 1)};
    const std::uint64_t bytes = page_ceil(all.size() / page_size * sizeof(Page));
    if (bytes > room_.size()) return no_room;
    pages_ = port::memory_at<Page>({room_.begin});
    room_.begin += bytes;
    all_ = all;
    count_ = static_cast<std::uint32_t>(all.size() / page_size);
    machine_ = &machine;
    region_ = static_cast<std::uint16_t>(machine.regions.size() - 1);
    mark_ours(machine);
    if (!replace_tables(machine)) return no_room;
    machine.first = this;
    hold_ = port::read<reg::CNTFRQ>() / holds_each_second;
    if (!std::exchange(moving_, true)) set_moving(machine, false);
    return {};
}

/// When this returns, these CPUs have no more than `leaf` at the page.
[[gnu::always_inline]] inline void MovingPages::take_from(unsigned losers, std::uint32_t at,
                                                          Descriptor leaf) {
    for (; losers != 0; losers &= losers - 1)
        set(static_cast<unsigned>(std::countr_zero(losers)), at, leaf);
    check(machine_->broadcast_fails.load(std::memory_order_relaxed) == 0,
          "pages move, and a CPU has Cortex-A15 erratum 798181");
    forget_translations();
}

/// Of Hyp's own doing.
void MovingPages::record(Cpu& cpu, abi::MoveBy by, std::uint32_t page) {
    abi::Record record =
        event_record(abi::RecordType::move, abi::move_value(by, 0, false), page, region_);
    publish_event(cpu, record);
}

/// If the page has moved too often, all CPUs have it, unless too many others are free. `taken`:
/// from a CPU, so long behind the last move.
bool MovingPages::set_free(Cpu& cpu, std::uint32_t at, Page& page, bool taken,
                           std::uint32_t behind) {
    const bool soon = behind < holds_of_soon * hold_;
    if (taken) page.moves = (soon ? std::min(page.moves + 1u, limit_) : 0) & 0xff;
    if (page.moves != limit_) return false;
    Free* const free = std::ranges::find_if(
        free_, [at](Free& each) { return port::exchange_if(each.page, 0, at); });
    if (free == std::end(free_)) return false;
    record(cpu, abi::MoveBy::freed, at);
    page.free = true;
    free->since = page.since = now();
    for (unsigned n = 0; n < cpu.machine->cpu_count; ++n)
        set(n, at, lpae::make_leaf(at, lpae::guest_memory, lpae::last_level));
    return true;
}

/// Of those that have been free for long enough nobody has any any more.
void MovingPages::take_back(Cpu& cpu) {
    for (Free& free : free_) {
        const std::uint32_t at = port::load_shared(free.page);
        if (at == 0 || now() - free.since < holds_free * hold_) continue;
        Lock& lock = page_locks.of({at});
        if (!lock.try_acquire(cpu.number, RegionLocks::max_turns, cpu.ring.statistics().lock_spins))
            return;
        Page& page = page_at(at);
        if (free.page == at && now() - free.since >= holds_free * hold_) {
            if (page.free) { // else another service has it, or had it
                take_from((1u << cpu.machine->cpu_count) - 1, at, 0);
                record(cpu, abi::MoveBy::taken_back, at);
                page.free = page.writable = false;
                page.holders = page.moves = 0;
                page.since = now();
            }
            port::store_shared(free.page, 0);
        }
        lock.release();
    }
}

/// The page comes to this CPU. A store takes it from all others, anything else the right to store
/// there from the one that had it.
void MovingPages::move(Cpu& cpu, std::uint32_t at, abi::MoveBy by, Page& page, unsigned losers) {
    const bool store = by == abi::MoveBy::store;
    abi::Record& record = cpu.trapped.record;
    record.value = abi::move_value(by, page.holders, page.writable);
    record.type = abi::RecordType::move;
    record.device = region_;
    record.access = abi::encode_access(store, 0);
    record.duration = record.lock_sequence = 0;
    if (losers != 0)
        take_from(losers, at, store ? 0 : lpae::make_leaf(at, read_only, lpae::last_level));
    publish_event(cpu, record);
    const unsigned me = 1u << cpu.number;
    const bool had = (page.holders & me) != 0;
    page.holders = (store ? me : page.holders | me) & 0xff;
    page.writable = store;
    page.last = cpu.number & 0xf;
    const std::uint32_t before = std::exchange(page.since, static_cast<std::uint32_t>(record.time));
    if (limit_ == 0 || !set_free(cpu, at, page, losers != 0, page.since - before))
        set(cpu.number, at,
            lpae::make_leaf(at, store ? lpae::guest_memory : read_only, lpae::last_level));
    port::publish_tables();
    if (had) cpu.view.forget(); // it may know that it cannot store
}

/// The guest tries again; it gets the page, or it traps again. cpu.trapped.record says who wants
/// it.
[[gnu::always_inline]] inline void MovingPages::get(Cpu& cpu, std::uint32_t at, abi::MoveBy by,
                                                    Page& page) {
    if (cpu.ring.stalls() && !cpu.ring.has_room(limit_ != 0 ? most_records : 1)) return;
    Lock& lock = page_locks.of({at});
    if (!lock.try_acquire(cpu.number, RegionLocks::max_turns, cpu.ring.statistics().lock_spins))
        return;
    const bool store = by == abi::MoveBy::store;
    const unsigned me = 1u << cpu.number;
    const bool has = (page.holders & me) != 0 && (page.writable || !store);
    const unsigned losers = store ? page.holders & ~me : page.writable ? page.holders : 0;
    if (has || page.lent || page.free) cpu.view.forget(); // since the trap
    else if (losers == 0 || page.last == cpu.number || now() - page.since >= hold_)
        move(cpu, at, by, page, losers);
    lock.release();
    if (limit_ != 0) take_back(cpu);
}

// A step ends first, a worker works behind each trap, and a closed fast path is opened there.
// Whether there is room is known while it is closed.
bool MovingPages::trap(Cpu& cpu, const Frame& frame, arch::Hsr hsr) {
    const FastState& fast = cpu.fast;
    const bool between = fast.handler == fast.ready || fast.handler == fast.reserve;
    return between && !cpu.has_worker && !cpu.ring.stalls() && abort(cpu, frame, hsr);
}

// If the fast path is open, others have not been asked, who may have the page on loan.
bool MovingPages::abort(Cpu& cpu, const Frame& frame, arch::Hsr hsr) {
    const bool data = hsr.ec() == arch::ExceptionClass::data_abort;
    if (!data && hsr.ec() != arch::ExceptionClass::prefetch_abort) return false;
    const std::uint32_t va = data ? port::read<reg::HDFAR>() : port::read<reg::HIFAR>();
    auto by = !data ? abi::MoveBy::fetch : hsr.write() ? abi::MoveBy::store : abi::MoveBy::load;
    std::uint32_t pa = port::read<reg::HPFAR>() >> 4 << 12;
    // For a walk HDFAR is the address that it was for. A permission fault has no HPFAR (B3.13.5).
    if (hsr.translation_fault() && hsr.stage1_walk()) by = abi::MoveBy::walk;
    else if (hsr.page_fault()) pa |= va & (page_size - 1);
    else if (const auto found = hsr.permission_fault() ? translate(frame, {va}) : std::nullopt)
        pa = static_cast<std::uint32_t>(found->value);
    else return false;
    const auto n = static_cast<std::uint32_t>(pa - all_.begin) / std::uint32_t{page_size};
    if (n >= count_ || !pages_[n].ours || (pages_[n].lent && fast_path_is_open(cpu))) return false;
    describe_context(cpu.trapped.record, frame, {va}, {pa});
    get(cpu, pa & ~std::uint32_t{page_size - 1}, by, pages_[n]);
    return true;
}

void MovingPages::set_moving(Machine& machine, bool moving) {
    if (moving == moving_) return;
    moving_ = moving;
    if (pages_ == nullptr) return; // before start()
    std::ranges::fill(free_, Free{});
    for (std::uint64_t at = all_.begin; at < all_.end; at += page_size) {
        if (!page_at(at).ours || page_at(at).lent) continue;
        for (unsigned cpu = 0; cpu < machine.cpu_count; ++cpu)
            set(cpu, static_cast<std::uint32_t>(at), at_first(at));
        page_at(at) = {.ours = true, .free = !moving};
    }
    forget_translations();
}

} // namespace mmioscope
