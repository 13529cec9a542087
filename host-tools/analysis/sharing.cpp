#include "analysis/sharing.hpp"

#include "analysis/count.hpp"
#include "analysis/register_history.hpp"
#include "reading/kept.hpp"
#include "records/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace mmioscope::analysis {

namespace {

constexpr std::string_view kinds[] = {"lost update", "never ended", "shared register",
                                      "shared page", "never read back"};

std::string name_of(const Event& event, Key key) {
    std::string name;
    set_name(name, event, key);
    return name;
}

std::string cpus_text(const std::bitset<256>& cpus) {
    std::string text;
    for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) {
        if (cpus[cpu]) {
            text += fmt::format("{}{}", text.empty() ? "" : ",", cpu);
        }
    }
    return text;
}

/// What a row needs.
struct Shown {
    const Event& event;
    const Event& other; ///< without a number: none
    std::bitset<256> cpus = {};
    std::uint64_t times = 0, reads = 0, writes = 0;
    std::uint64_t apart = Use::never; ///< ns
    std::uint64_t bits = 0, value = 0;
};

Shown shown(const LostUpdate& lost, Shared /*kind*/) {
    Shown shown{lost.write, lost.other};
    shown.cpus.set(lost.write.record.cpu).set(lost.other.record.cpu);
    shown.times = lost.times;
    shown.apart = trace::elapsed(lost.other.nanoseconds, lost.write.nanoseconds);
    shown.bits = lost.bits;
    shown.value = lost.value;
    return shown;
}

const Event no_other;

Shown shown(const NeverEnded& one, Shared /*kind*/) {
    Shown shown{one.first, no_other};
    shown.cpus.set(one.first.record.cpu);
    shown.times = one.times;
    return shown;
}

Shown shown(const Use& use, Shared kind) {
    return kind == Shared::never_read_back
               ? Shown{use.last, no_other, use.cpus, 0, use.reads, use.writes}
               : Shown{use.shared_at(), use.earlier, use.cpus,   0,
                       use.reads,       use.writes,  use.closest};
}

table::Row row_of(const Shown& shown, Shared kind) {
    const Event& event = shown.event;
    const bool is_page = kind == Shared::shared_page;
    const auto known = [](bool is, table::Cell cell) { return is ? cell : table::Cell(); };
    const bool has_other = shown.other.number != 0;
    table::Cell what;
    if (is_page) {
        what = fmt::format("{:#x}", abi::physical_address(event.record) & ~std::uint64_t{0xfff});
    } else if (kind == Shared::never_ended) {
        what = std::string(event.interrupt());
    } else if (shown.bits != 0) {
        what = registers::bits_text(event.reg(), shown.bits, shown.value,
                                    abi::access_size(event.record), within_register(event));
    }
    const bool counts = shown.reads + shown.writes != 0;
    return {kinds[static_cast<std::size_t>(kind)],
            std::string(event.device()),
            known(!is_page, registers::register_text(event.reg(), event.offset())),
            what,
            known(shown.bits != 0, table::Hex{shown.bits}),
            known(shown.bits != 0, table::Hex{shown.value}),
            cpus_text(shown.cpus),
            name_of(event, Key::function),
            name_of(event, Key::caller),
            known(has_other, has_other ? name_of(shown.other, Key::function) : ""),
            known(has_other, has_other ? name_of(shown.other, Key::caller) : ""),
            known(shown.times != 0, shown.times),
            known(counts, shown.reads),
            known(counts, shown.writes),
            known(shown.apart != Use::never, shown.apart),
            event.number,
            known(has_other, shown.other.number)};
}

std::vector<table::Column> sharing_columns() {
    using enum table::Look;
    return {{"finding", "finding"},
            {"device", "device"},
            {"register", "register"},
            {"what", "what"},
            {"bits"},
            {"value"},
            {"cpus", "cpus"},
            {"function", "function"},
            {"caller"},
            {"other_function", "other function"},
            {"other_caller"},
            {"times", "times", number, 5},
            {"reads", "reads", number, 7},
            {"writes", "writes", number, 7},
            {"apart_ns", "apart us", micros, 10},
            {"event", "event", number, 8},
            {"other_event"}};
}

} // namespace

// Losses have no CPU's thread go on: nothing is concluded across one.
void Sharing::add(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type == abi::RecordType::gap) {
        threads_ = {};
        lost_.cut();
        interrupts_.cut();
        registers_.cut();
        pages_.cut();
        return;
    }
    if (interrupts_.add(event)) {
        lost_.begin(event);
    }
    if (record.type != abi::RecordType::access) {
        return;
    }
    if (event.interrupt_id() != no_id) { // a CPU's own register
        threads_.follow(record);
        return;
    }
    const std::uint64_t before = registers_.left_out();
    if (registers_.add(event)) {
        pages_.add(event);
        const bool looked_at = lost_.add(event, threads_.of(record));
        left_out_ += looked_at && registers_.left_out() == before ? 0 : 1;
    }
}

void Sharing::never_ended(const Event& acknowledge) {
    NeverEnded& one = never_ended_.of(
        std::pair<unsigned, std::uint64_t>(acknowledge.record.cpu, acknowledge.record.value));
    if (one.times++ == 0) {
        one.first = acknowledge;
    }
}

// In the order of the table.
Sharing::Findings Sharing::findings() {
    Findings all;
    const auto add = [&all](Shared kind, std::uint64_t rank, const Event& event, const auto& what) {
        all[static_cast<std::size_t>(kind)].push_back({rank, event.number, &what});
    };
    lost_.each([&add](const LostUpdate& lost) {
        add(Shared::lost_update, ~lost.times, lost.write, lost);
    });
    for (const auto& [name, one] : never_ended_.held()) {
        add(Shared::never_ended, ~one.times, one.first, one);
    }
    registers_.each([&add](const Use& use) {
        if (use.is_shared()) {
            add(Shared::shared_register, use.closest, use.shared_at(), use);
        }
        if (use.is_never_read_back()) {
            add(Shared::never_read_back, ~use.writes, use.last, use);
        }
    });
    pages_.each([&add](const Use& use) {
        if (use.is_shared()) {
            add(Shared::shared_page, use.closest, use.shared_at(), use);
        }
    });
    for (std::vector<Finding>& of_kind : all) {
        std::ranges::sort(of_kind, {},
                          [](const Finding& one) { return std::pair(one.rank, one.event); });
    }
    return all;
}

table::Table Sharing::table(std::size_t most, bool all) {
    table::Table table{sharing_columns(), {}};
    Findings findings = this->findings();
    for (std::size_t kind = 0; kind < findings.size(); ++kind) {
        const std::size_t size = findings[kind].size();
        const bool shown = all || kind <= static_cast<std::size_t>(Shared::never_ended);
        findings[kind].resize(std::min(size, shown ? most : 0));
        if (size > findings[kind].size()) {
            table.closing += fmt::format("{} {} {}", table.closing.empty() ? "..." : ",",
                                         size - findings[kind].size(), kinds[kind]);
        }
    }
    table.closing += table.closing.empty() ? "" : all ? " more" : " more (--all, --limit)";
    table.more = [findings = std::move(findings)](const table::TakeRow& take_row) {
        for (std::size_t kind = 0; kind < findings.size(); ++kind) {
            for (const Finding& finding : findings[kind]) {
                std::visit(
                    [&](const auto* what) {
                        take_row(row_of(shown(*what, Shared(kind)), Shared(kind)));
                    },
                    finding.what);
            }
        }
    };
    add_left_out(table.left_out, lost_.left_out(), "lost updates", LostUpdates::most_lost);
    add_left_out(table.left_out, never_ended_.rest().times, "interrupts", never_ended_.most());
    add_left_out(table.left_out, left_out_, "accesses to registers", registers_.most());
    add_left_out(table.left_out, pages_.left_out(), "accesses to pages", pages_.most());
    return table;
}

namespace {

constexpr unsigned widest = 8; ///< bytes of a value

bool is_named(const Location* location) {
    return location != nullptr && !location->function.empty();
}

bool same(const Location* a, const Location* b) {
    return is_named(a) && is_named(b) && a->function == b->function && a->module == b->module;
}

// Drivers often read and write by functions of their own: then the caller is the same.
bool in_one_function(const Event& read, const Event& write) {
    constexpr std::uint32_t near = 4096; ///< bytes of code without names
    if (!is_named(read.code()) && !is_named(write.code())) {
        return read.record.pc - write.record.pc + near < 2 * near;
    }
    return same(read.code(), write.code()) || same(read.code(), write.caller()) ||
           same(read.caller(), write.code()) || same(read.caller(), write.caller());
}

// Names copies: ids in what is kept would become invalid.
std::string functions_of(const Event& other, const Event& write) {
    std::string name, function;
    for (const Event& event : {write, unnamed(other)}) {
        set_name(function, event, Key::function);
        name.append(function).push_back('\0');
    }
    return name;
}

} // namespace

LostUpdates::Read& LostUpdates::read_of(Place place, Thread thread) {
    return reads_[reading::mixed(place ^ reading::mixed(thread)) >> (64 - read_bits)];
}

bool LostUpdates::add(const Event& event, Thread thread) {
    const abi::Record& record = event.record;
    const Place place = place_of(record) & ~Place{abi::access_write};
    State& state = states_.of(place);
    if (states_.is_rest(state)) {
        return false;
    }
    Read& read = read_of(place, thread);
    const bool is_own = read.event.number != 0 && read.thread == thread &&
                        (place_of(read.event.record) & ~Place{abi::access_write}) == place;
    if ((record.flags & abi::flag_value_unknown) != 0 || abi::access_size(record) > widest) {
        state.known = state.written = false;
        if (is_own) {
            read = {};
        }
        if (abi::is_write(record)) {
            state.newest = {}; // a lost one cannot be told
        }
        return true;
    }
    if (abi::is_write(record)) {
        if (is_own) {
            judge(place, state, read, event);
            read = {};
        }
        keep_unnamed(state.newest, event);
        state.before = state.content;
        state.known_before = state.known;
        state.written = true;
    } else {
        if (state.written) {
            const std::uint64_t other = record.value ^ state.content;
            state.keeping.unkept |= other;
            if (state.known_before) {
                const std::uint64_t changed = state.content ^ state.before;
                // A 1 that a 0 does not clear, or that a 1 clears: no storage. A bit that was 0
                // may have been set by the device, or clears itself.
                state.keeping.no_storage |= (other & state.before) != 0;
                state.keeping.kept |= changed != 0 && (changed & other) == 0;
            }
        }
        state.written = false;
        keep_unnamed(read.event, event);
        read.thread = thread;
    }
    state.content = record.value;
    state.known = true;
    return true;
}

void LostUpdates::judge(Place place, const State& state, const Read& read, const Event& write) {
    const abi::Record& other = state.newest.record;
    const bool between = state.newest.number > read.event.number &&
                         other.cpu != read.event.record.cpu && other.cpu != write.record.cpu;
    if (!between || trace::elapsed(read.event.nanoseconds, write.nanoseconds) > longest) {
        return;
    }
    const std::uint64_t content = read.event.record.value;
    const std::uint64_t bits = (other.value ^ content) & ~(write.record.value ^ content);
    const bool of_another_run =
        Threads::is_interrupt(read.thread) && read.event.number < began_[write.record.cpu];
    if (bits == 0 || of_another_run || !in_one_function(read.event, write) ||
        is_banked(write.reg())) {
        return;
    }
    LostUpdate& lost = lost_.of(std::pair(place, functions_of(state.newest, write)));
    if (lost.times++ == 0) {
        lost.other = unnamed(state.newest);
        lost.write = unnamed(write);
    }
    lost.value |= other.value & bits & ~lost.bits;
    lost.bits |= bits;
}

void LostUpdates::cut() {
    for (auto& [place, state] : states_.held()) {
        state.known = state.written = false;
        state.newest = {};
    }
    for (Read& read : reads_) {
        read = {};
    }
}

void LostUpdates::each(const std::function<void(const LostUpdate&)>& take) {
    for (auto& [name, lost] : lost_.held()) {
        const Keeping& keeping = states_.of(name.first).keeping;
        lost.bits &= ~keeping.unkept;
        lost.value &= lost.bits;
        if (keeping.kept && !keeping.no_storage && lost.bits != 0) {
            take(lost);
        }
    }
}

} // namespace mmioscope::analysis
