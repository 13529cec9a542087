#include "moving/moving_pages.hpp"

#include "abi/chosen.hpp"
#include "base/check.hpp"
#include "changing/live_tables.hpp"
#include "dt/regions.hpp"
#include "engine/record.hpp"
#include "start/setup.hpp"

#include <algorithm>
#include <utility>

namespace mmioscope {

using lpae::Descriptor;

namespace {

constexpr unsigned holds_each_second = 100'000; ///< 10 microseconds each
constexpr unsigned holds_of_soon = 100;         ///< 1 ms: moves that are nearer are too often
constexpr unsigned holds_free = 1000;           ///< 10 ms
constexpr unsigned most_records = 18;           ///< of one trap
constexpr unsigned table_level = lpae::last_level - 1; ///< of the entries that lead to our tables
constexpr std::uint64_t block_size = lpae::level_size(table_level);
constexpr lpae::Attributes read_only{(lpae::guest_memory.bits & ~lpae::s2_read_write) |
                                     lpae::s2_read_only};

std::uint32_t now() {
    return static_cast<std::uint32_t>(port::read<reg::CNTPCT>());
}

/// What `cpu` has at a page, in both of its views. The upper words of all such descriptors are 0.
[[gnu::always_inline]] inline void set(Machine& machine, unsigned cpu, std::uint32_t page,
                                       Descriptor leaf) {
    Descriptor* const normal = machine.normal(cpu).last_entry(page);
    Descriptor* const shadow = machine.shadow(cpu).last_entry(page);
    port::store_half(*normal, false, leaf);
    if (shadow != normal) port::store_half(*shadow, false, leaf);
}

} // namespace

BootError MovingPages::configure(Machine& machine, Setup& setup) {
    const Tree& tree = setup.tree;
    const int chosen = tree.find("/chosen");
    on_ = tree.has(chosen, abi::chosen::pages);
    if (!on_) return {};
    machine.memory = MemoryOf::each_cpu;
    const Property list = tree.property(chosen, abi::chosen::pages);
    const bool limited = list.size % 8 == 4;
    if (!limited && list.size % 8 != 0)
        return {"mmioscope,pages must have two cells for each range", ""};
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
    if (ranges_.empty())
        for (const Range& part : machine.guest_memory)
            if (!ranges_.push_back(part)) return {"mmioscope,pages: too many ranges", ""};
    return {};
}

/// What lies between the image and the place of the boot loader's tree is nobody's.
bool MovingPages::add_to_tables(Machine& machine) {
    room_ = {page_ceil(machine.image.stacks.end), machine.image.boot_tree.begin};
    return !on_ || (machine.hyp_table.map(room_, lpae::hyp_data, machine.pool) &&
                    add_memory(machine.regions, machine.guest_memory, machine.own_memory));
}

Descriptor* MovingPages::new_table() {
    if (room_.empty()) return nullptr;
    room_.end -= page_size;
    return port::memory_at<Descriptor>({room_.end});
}

/// Those of `range`, as far as there is a place for them.
void MovingPages::mark(Range range, bool ours) {
    const std::uint64_t end = std::min(page_ceil(range.end), all_.end);
    for (std::uint64_t at = std::max(page_floor(range.begin), all_.begin); at < end;
         at += page_size)
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

/// How many pages of `all` are ours.
unsigned MovingPages::count_ours(Range all) {
    unsigned count = 0;
    for (std::uint64_t page = all.begin; page < all.end; page += page_size)
        count += all_.contains(page) && page_at(page).ours;
    return count;
}

/// Gives `entry` a table, not valid yet, in which nobody has a page that is ours. False: no room.
bool MovingPages::make_table(Descriptor& entry, std::uint64_t block) {
    Descriptor* const table = new_table();
    if (table == nullptr) return false;
    expand(entry, table_level, table);
    for (unsigned n = 0; n < lpae::table_entries; ++n)
        if (page_at(block + n * page_size).ours) table[n] = 0;
    entry = lpae::make_table(port::address_of(table)) & ~lpae::valid;
    return true;
}

/// Each CPU gets tables of its own for the block, one if its views have the same there. False: no
/// room.
bool MovingPages::make_tables(Machine& machine, std::uint64_t block) {
    for (unsigned cpu = 0; cpu < machine.cpu_count; ++cpu) {
        Descriptor& normal = *machine.normal(cpu).entry(block, table_level);
        Descriptor& shadow = *machine.shadow(cpu).entry(block, table_level);
        const bool alike = normal == shadow;
        if (!make_table(normal, block)) return false;
        if (alike) shadow = normal;
        else if (!make_table(shadow, block)) return false;
    }
    return true;
}

/// By break-before-make: this CPU may have walked the tables already. False: no room.
bool MovingPages::replace_tables(Machine& machine) {
    const auto is_wanted = [&](std::uint64_t at) {
        const Range block{at, at + block_size};
        return count_ours(block) != 0 ||
               (machine.has_original &&
                std::ranges::any_of(machine.guest_memory,
                                    [&](const Range& part) { return part.overlaps(block); }));
    };
    for (std::uint64_t at = all_.begin; at < all_.end; at += block_size)
        if (is_wanted(at) && !make_tables(machine, at)) return false;
    forget_on_all_cpus();
    for (std::uint64_t at = all_.begin; at < all_.end; at += block_size) {
        if (!is_wanted(at)) continue;
        for (unsigned cpu = 0; cpu < machine.cpu_count; ++cpu) {
            *machine.normal(cpu).entry(at, table_level) |= lpae::valid;
            *machine.shadow(cpu).entry(at, table_level) |= lpae::valid;
        }
    }
    return true;
}

/// The pages' traps are ours. False: no room.
bool MovingPages::enter_in_index(Machine& machine) {
    const auto store = [](std::uint32_t& word, std::uint32_t value) { word = value; };
    for (std::uint64_t at = all_.begin; at < all_.end; at += page_size) {
        const Range whole{at, at + PageIndex::whole_size};
        if (at % PageIndex::whole_size == 0 &&
            count_ours(whole) == PageIndex::whole_size / page_size) {
            if (!machine.pages.give_whole(at, *owner_, machine.pool)) return false;
            at = whole.end - page_size;
        } else if (page_at(at).ours && !machine.pages.give(static_cast<std::uint32_t>(at), owner_,
                                                           machine.pool, store)) {
            return false;
        }
    }
    return true;
}

BootError MovingPages::start(Machine& machine, const Setup&) {
    constexpr BootError no_room{"not enough room for pages that move: give fewer of them", ""};
    if (!on_) return {};
    if (auto e = LiveTables::objection(machine, 0)) return e;
    Range all = ranges_[0];
    const auto include = [&all](const Range& range) {
        all = {std::min(all.begin, range.begin), std::max(all.end, range.end)};
    };
    for (const Range& range : ranges_) include(range);
    // A CPU's own copies of code (probes/) need tables of its own.
    if (machine.has_original)
        for (const Range& range : machine.guest_memory) include(range);
    all = {all.begin & ~(block_size - 1), (all.end + block_size - 1) & ~(block_size - 1)};
    const std::uint64_t bytes = page_ceil(all.size() / page_size * sizeof(Page));
    if (bytes > room_.size()) return no_room;
    pages_ = port::memory_at<Page>({room_.begin});
    room_.begin += bytes;
    all_ = all;
    owner_ = machine.locks.take_page_owner({lpae::input_end, lpae::input_end}, *this);
    if (owner_ == nullptr) return no_room;
    owner_->own.mapped = Mapped::always;
    owner_->own.moves = true;
    region_ = static_cast<std::uint16_t>(machine.regions.size() - 1);
    mark_ours(machine);
    if (!enter_in_index(machine) || !replace_tables(machine)) return no_room;
    hold_ = port::read<reg::CNTFRQ>() / holds_each_second;
    if (!std::exchange(moving_, true)) set_moving(machine, false);
    return {};
}

/// When this returns, these CPUs have no more than `leaf` at the page.
void MovingPages::take_from(Machine& machine, unsigned losers, std::uint32_t page,
                            Descriptor leaf) {
    for (unsigned n = 0; losers != 0; ++n, losers >>= 1)
        if ((losers & 1) != 0) set(machine, n, page, leaf);
    check(machine.broadcast_fails.load(std::memory_order_relaxed) == 0,
          "pages move, and a CPU has Cortex-A15 erratum 798181");
    forget_translations();
}

/// Of Hyp's own doing.
void MovingPages::record(Cpu& cpu, abi::MoveBy by, std::uint32_t page) {
    abi::Record record =
        event_record(abi::RecordType::move, abi::move_value(by, 0, false), page, region_);
    cpu.ring.publish_event(record);
}

/// The page has moved too often: all CPUs have it. False: too many others are free.
bool MovingPages::set_free(Cpu& cpu, std::uint32_t at, Page& page) {
    Free* const free = std::ranges::find_if(
        free_, [at](Free& each) { return port::exchange_if(each.page, 0, at); });
    if (free == std::end(free_)) return false;
    record(cpu, abi::MoveBy::freed, at);
    page.free = true;
    free->since = page.since = now();
    for (unsigned n = 0; n < cpu.machine->cpu_count; ++n)
        set(*cpu.machine, n, at, lpae::make_leaf(at, lpae::guest_memory, lpae::last_level));
    return true;
}

/// Of those that have been free for long enough nobody has any any more.
void MovingPages::take_back(Cpu& cpu) {
    for (Free& free : free_) {
        const std::uint32_t at = port::load_shared(free.page);
        if (at == 0 || now() - free.since < holds_free * hold_) continue;
        Lock& lock = cpu.machine->page_locks.of({at});
        if (!lock.try_acquire(cpu.number, RegionLocks::max_turns, cpu.ring.statistics().lock_spins))
            return;
        Page& page = page_at(at);
        if (free.page == at && now() - free.since >= holds_free * hold_) {
            if (page.free) { // else another service has it, or had it
                take_from(*cpu.machine, (1u << cpu.machine->cpu_count) - 1, at, 0);
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
void MovingPages::move(Cpu& cpu, const Frame& frame, VirtualAddress va, PhysicalAddress pa,
                       abi::MoveBy by, Page& page, unsigned losers) {
    Machine& machine = *cpu.machine;
    const auto at = static_cast<std::uint32_t>(page_floor(pa.value));
    const bool store = by == abi::MoveBy::store;
    const unsigned me = 1u << cpu.number, holders = page.holders;
    if (losers != 0)
        take_from(machine, losers, at,
                  store ? 0 : lpae::make_leaf(at, read_only, lpae::last_level));
    abi::Record& record = cpu.trapped.record;
    record.type = abi::RecordType::move;
    describe_context(record, frame, va, pa);
    record.device = region_;
    record.access = abi::encode_access(store, 0);
    record.duration = record.lock_sequence = 0;
    record.value = abi::move_value(by, holders, page.writable);
    cpu.ring.publish_event(record);
    page.holders = static_cast<std::uint8_t>(store ? me : holders | me);
    page.writable = store;
    page.last = cpu.number & 0xf;
    const std::uint32_t before = std::exchange(page.since, now());
    const bool soon = page.since - before < holds_of_soon * hold_;
    if (losers != 0)
        page.moves = static_cast<std::uint8_t>(soon ? std::min(page.moves + 1u, limit_) : 0);
    if (limit_ == 0 || page.moves != limit_ || !set_free(cpu, at, page))
        set(machine, cpu.number, at,
            lpae::make_leaf(at, store ? lpae::guest_memory : read_only, lpae::last_level));
    port::publish_tables();
    if ((holders & me) != 0) cpu.view.forget(); // it may know that it cannot store
}

/// The guest tries again; it gets the page, or it traps again.
Outcome MovingPages::get(Cpu& cpu, const Frame& frame, VirtualAddress va, PhysicalAddress pa,
                         abi::MoveBy by) {
    if (cpu.ring.stalls() && !cpu.ring.has_room(limit_ != 0 ? most_records : 1))
        return Outcome::again;
    Lock& lock = cpu.machine->page_locks.of(pa);
    if (!lock.try_acquire(cpu.number, RegionLocks::max_turns, cpu.ring.statistics().lock_spins))
        return Outcome::again;
    Page& page = page_at(pa.value);
    const bool store = by == abi::MoveBy::store;
    const unsigned me = 1u << cpu.number;
    const bool has = (page.holders & me) != 0 && (page.writable || !store);
    const unsigned losers = store ? page.holders & ~me : page.writable ? page.holders : 0;
    if (has || page.lent || page.free || !moving_) cpu.view.forget(); // since the trap
    else if (losers == 0 || page.last == cpu.number || now() - page.since >= hold_)
        move(cpu, frame, va, pa, by, page, losers);
    lock.release();
    if (limit_ != 0) take_back(cpu);
    return Outcome::again;
}

Outcome MovingPages::access(Cpu& cpu, Frame& frame, abi::FaultReason) {
    const DeviceAccess& access = cpu.trapped.access;
    const auto by = access.stage1_walk ? abi::MoveBy::walk
                    : access.write     ? abi::MoveBy::store
                                       : abi::MoveBy::load;
    return get(cpu, frame, access.va, access.pa, by);
}

Outcome MovingPages::fetch(Cpu& cpu, Frame& frame, VirtualAddress va, PhysicalAddress pa,
                           bool by_walk) {
    return get(cpu, frame, va, by_walk ? PhysicalAddress{page_floor(pa.value)} : pa,
               by_walk ? abi::MoveBy::walk : abi::MoveBy::fetch);
}

void MovingPages::set_moving(Machine& machine, bool moving) {
    if (moving == moving_) return;
    moving_ = moving;
    if (owner_ == nullptr) return; // before start()
    std::ranges::fill(free_, Free{});
    for (std::uint64_t at = all_.begin; at < all_.end; at += page_size) {
        if (!page_at(at).ours || page_at(at).lent) continue;
        for (unsigned cpu = 0; cpu < machine.cpu_count; ++cpu)
            set(machine, cpu, static_cast<std::uint32_t>(at), at_first(at));
        page_at(at) = {.ours = true};
    }
    forget_translations();
}

} // namespace mmioscope
