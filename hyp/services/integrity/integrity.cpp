#include "integrity/integrity.hpp"

#include "base/check.hpp"
#include "integrity/checksum.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/memory.hpp"
#include "port/sysreg.hpp"

#include <algorithm>

namespace mmioscope {

namespace {

constexpr std::size_t piece_size = checksum_size;

const std::uint8_t* bytes(const void* of) {
    return static_cast<const std::uint8_t*>(of);
}

std::size_t pieces(const SealedRange& range) {
    return (range.size + piece_size - 1) / piece_size;
}

Damage piece_of(const SealedRange& range, std::size_t n) {
    const std::size_t offset = n * piece_size;
    return {range.name, range.begin + offset, std::min(range.size - offset, piece_size)};
}

std::uint64_t sum_of(const Damage& piece) {
    return checksum(piece.begin, piece.size);
}

bool is_guest_root(Machine& machine, const void* page) {
    return std::ranges::any_of(machine.all_views(), [page](const View& view) {
        return port::memory_at<const void>(view.root()) == page;
    });
}

} // namespace

bool Integrity::seal(const char* name, const void* begin, const void* end, bool emptied_by_stop) {
    const SealedRange range{name, bytes(begin), static_cast<std::size_t>(bytes(end) - bytes(begin)),
                            emptied_by_stop, sums_.size()};
    check(reinterpret_cast<std::uintptr_t>(begin) % 4 == 0 && range.size % 4 == 0,
          "a sealed range is not whole words");
    if (range.size == 0) return true;
    for (std::size_t n = 0; n < pieces(range); ++n)
        if (!sums_.push_back(sum_of(piece_of(range, n)))) return false;
    return ranges_.push_back(range);
}

void Integrity::expect_change(const void* at, std::uint32_t from, std::uint32_t to) {
    for (const SealedRange& range : ranges_) {
        const auto offset = static_cast<std::size_t>(bytes(at) - range.begin);
        if (bytes(at) < range.begin || offset >= range.size) continue;
        sums_[range.first_sum + offset / piece_size] +=
            checksum_of_change(offset % piece_size, from, to);
    }
}

Damage Integrity::find_damage(bool stopped) const {
    for (const SealedRange& range : ranges_) {
        if (stopped && range.emptied_by_stop) continue;
        for (std::size_t n = 0; n < pieces(range); ++n) {
            const Damage piece = piece_of(range, n);
            if (sum_of(piece) != sums_[range.first_sum + n]) return piece;
        }
    }
    return {};
}

Damage Integrity::find_damage_in_turn() {
    if (ranges_.size() == 0) return {};
    const SealedRange& range = ranges_[next_.range];
    const Damage piece = piece_of(range, next_.piece);
    const bool sound = sum_of(piece) == sums_[range.first_sum + next_.piece];
    if (++next_.piece == pieces(range)) next_ = {(next_.range + 1) % ranges_.size(), 0};
    return sound ? Damage{} : piece;
}

bool Integrity::seal_memory(const char* name, const Range& range) {
    const auto* begin = port::memory_at<const std::uint8_t>({range.begin});
    return seal(name, begin, begin + range.size());
}

/// Seals the root entries separately from the rest of their pages.
bool Integrity::seal_tables(Machine& machine) {
    const lpae::Descriptor* begin = machine.pool.begin();
    for (const auto* table = begin; table != machine.pool.end(); table += lpae::table_entries) {
        if (!is_guest_root(machine, table)) continue;
        const lpae::Descriptor* behind = table + lpae::root_entries;
        if (!seal("tables", begin, table) ||
            !seal("roots of the guest's tables", table, behind, true))
            return false;
        begin = behind;
    }
    return seal("tables", begin, machine.pool.end());
}

// Not the tables under `unprotect`, which opens and closes pages of the normal table all the time,
// without a lock.
bool Integrity::seal_machine(Machine& machine) {
    const bool tables_rest = machine.config.engine != abi::EngineKind::unprotect;
    return seal_memory("text", machine.image.text) &&
           seal_memory("constants", machine.image.constants) &&
           (!tables_rest || seal_tables(machine)) &&
           seal("description", &machine.config, &machine.locks);
}

BootError Integrity::start(Machine& machine, const Setup&) {
    traced_ = false;
    for (const Span& span : machine.map) traced_ |= span.traced();
    if (seal_machine(machine)) return {};
    return {"not enough room for the checksums of the hypervisor's memory", ""};
}

/// Tells those who look without the lock that the sums, or what they are of, are changing.
void Integrity::begin_change() {
    port::store_shared(changes_, changes_ + 1);
    port::order_memory();
}

void Integrity::end_change() {
    port::order_memory();
    port::store_shared(changes_, changes_ + 1);
}

void Integrity::store_sealed(std::uint32_t& word, std::uint32_t value) {
    begin_change();
    expect_change(&word, port::load_shared(word), value);
    port::store_shared(word, value);
    end_change();
}

void Integrity::store_sealed(std::uint64_t& descriptor, std::uint64_t value) {
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    const std::uint8_t* words = bytes(&descriptor);
    begin_change();
    expect_change(words, low(descriptor), low(value));
    expect_change(words + 4, low(descriptor >> 32), low(value >> 32));
    change_entry(descriptor, value);
    end_change();
}

namespace {

constexpr std::uint32_t looker =
    abi::max_cpus; // owner of Machine::changes during a check; not a CPU's number

/// Without the ISB the counter could be read early (ARM ARM B8.1.2).
std::uint64_t now() {
    port::synchronize_context();
    return port::read<reg::CNTPCT>();
}

/// Nobody needs Machine::changes for more than some milliseconds. Whoever has it after two seconds
/// (an emulator's host may have suspended its CPU for some of them) does not give it back. After a
/// stop there is one try only, since its holder may have been stopped.
bool wait_for_changes(Machine& machine, bool stopped) {
    constexpr unsigned turns_at_once = 1'000'000, seconds = 2;
    const std::uint64_t patience = std::uint64_t{seconds} * port::read<reg::CNTFRQ>();
    const std::uint64_t began = now();
    std::uint64_t turns = 0;
    do {
        if (machine.changes.try_acquire(looker, turns_at_once, turns)) return true;
    } while (!stopped && now() - began < patience);
    return false;
}

/// Whether it is time for the next check; if so, moves `next` to 1/`part` of a second from now.
bool due(std::uint64_t& next, unsigned part) {
    const std::uint64_t time = now();
    if (time < next) return false;
    next = time + port::read<reg::CNTFRQ>() / part;
    return true;
}

void require_sound(const Damage& damage) {
    check(damage.name == nullptr, "the hypervisor's memory was changed");
}

} // namespace

/// Without the lock another CPU may be changing what is looked at: a difference is a proof only if
/// nobody has changed anything meanwhile.
std::optional<Damage> Integrity::find_damage_unlocked(bool stopped) const {
    constexpr unsigned tries = 4;
    for (unsigned n = 0; n < tries; ++n) {
        const std::uint32_t before = port::load_shared(changes_);
        port::order_memory();
        const Damage damage = find_damage(stopped);
        port::order_memory();
        const std::uint32_t behind = port::load_shared(changes_);
        if (damage.name == nullptr || (before == behind && before % 2 == 0)) return damage;
    }
    return {};
}

// If Machine::changes is never given back, two CPUs may check at once, which does no harm.
std::optional<Damage> Integrity::find_damage(Machine& machine) {
    const bool stopped = machine.stopped.load(std::memory_order_relaxed) != 0;
    if (!wait_for_changes(machine, stopped)) return find_damage_unlocked(stopped);
    const Damage damage = find_damage(stopped);
    machine.changes.release();
    return damage;
}

bool Integrity::has_trace(const Machine& machine) const {
    bool has = traced_;
    // The guest's records: Hyp's own accesses make some on each CPU's start, whatever is traced.
    for (const Cpu& cpu : std::span(machine.cpus, machine.cpu_count))
        has |= cpu.ring.published() != cpu.bus.recorded();
    return has;
}

/// Looks at everything, or at the next piece, unless Machine::changes is taken or it is before
/// `next`.
void Integrity::look(Machine& machine, std::uint64_t& next, bool at_all) {
    constexpr unsigned most_turns = 16; // a STREX may fail spuriously, but not that often
    constexpr unsigned looks_each_second = 10, pieces_each_second = 100;
    std::uint64_t turns = 0;
    if (!machine.changes.try_acquire(looker, most_turns, turns)) return;
    Damage damage{};
    if (due(next, at_all ? looks_each_second : pieces_each_second))
        damage = at_all ? find_damage(false) : find_damage_in_turn();
    machine.changes.release();
    require_sound(damage);
}

void Integrity::verify(Machine& machine, Moment moment) {
    if (moment == Moment::idle) return look(machine, next_at_idle_, false);
    if (moment == Moment::doubt) return look(machine, next_in_doubt_, true);
    if (has_trace(machine)) require_sound(find_damage(machine).value_or(Damage{}));
}

/// Includes the tables below the guest's roots; the roots are empty by now.
void Integrity::report(Machine& machine, TextSink& out) {
    const std::optional<Damage> damage = find_damage(machine);
    if (!damage) print(out, "mmioscope: not checked: another CPU was changing what is traced\n");
    else if (damage->name == nullptr)
        print(out, "mmioscope: unchanged: text, constants, description, tables below the roots\n");
    else
        print(out, "mmioscope: changed: ", damage->name, " ",
              Hex{reinterpret_cast<std::uintptr_t>(damage->begin)}, "+", Hex{damage->size, 1},
              "\n");
}

} // namespace mmioscope
