#include "analysis/poll.hpp"

#include "analysis/register_history.hpp"
#include "reading/kept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace mmioscope::analysis {

std::size_t DataRegisters::slot_of(std::uint64_t place) {
    return reading::mixed(place) >> (64 - slot_bits);
}

void DataRegisters::add(const abi::Record& record) {
    const std::uint64_t place = place_of(record);
    Slot& slot = slots_[slot_of(place)];
    if (slot.place != place) {
        slot = {place, 0};
    }
    slot.values |= std::uint64_t{1} << (reading::mixed(record.value) >> 58);
}

bool DataRegisters::has(std::uint64_t place) const {
    const Slot& slot = slots_[slot_of(place)];
    return slot.place == place && std::popcount(slot.values) >= many;
}

namespace {

/// Reads of a register that never changed: fewer are no poll, because code repeats a read for other
/// reasons, too.
constexpr std::uint64_t least_unchanged = 8;
/// The most bits of a status that come and go; if more do, it is data.
constexpr int most_masked = 4;
constexpr std::uint64_t least_masked = 4; ///< reads needed to tell such bits from data
/// ns; the longest average iteration of a loop that carries data, or that writes while no register
/// changes. Slower repetitions are separate calls that do the same.
constexpr std::uint64_t longest_iteration = 2'000'000;

// A few bits come and go, the others stay. A counter, in contrast, only rises or only falls.
bool is_masked(const Watch& watch) {
    return watch.more > 0 && watch.less > 0 && std::popcount(watch.changed) <= most_masked &&
           watch.accesses >= least_masked;
}

bool stays(const Watch& watch) {
    return (watch.same > 0 && !watch.varies()) || is_masked(watch);
}

// The awaited bits: they changed with the last read, and never before. 0: none.
std::uint64_t awaited(const Watch& watch) {
    return stays(watch) ? watch.last_change() & ~watch.changed : 0;
}

bool never_changed(const Watch& watch) {
    const bool same = (watch.changed | watch.last_change()) == 0;
    return watch.accesses >= least_unchanged && (same || is_masked(watch));
}

bool is_quick(const Poll& poll) {
    return poll.nanoseconds() / poll.accesses * poll.period <= longest_iteration;
}

} // namespace

std::string_view kind_text(PollKind kind) {
    return kind == PollKind::poll ? "poll" : "handshake";
}

std::string_view end_text(PollEnd end) {
    switch (end) {
    case PollEnd::value: return "value";
    case PollEnd::given_up: return "given up";
    case PollEnd::data_over: return "data over";
    case PollEnd::unended: return "unended";
    }
    return "";
}

// The guest leaves a loop soon after the read that ends it, so the last candidate is that read.
std::optional<Poll> poll_of(const Loop& loop, const DataRegisters& data) {
    Poll poll;
    poll.period = loop.period();
    poll.accesses = loop.accesses();
    poll.first = loop.first();
    poll.last = loop.last();
    bool writes = false;
    const std::vector<Watch> watches = loop.watches();
    // What the code writes itself it does not wait for: separate calls, which read before they
    // write.
    const auto is_written = [&watches](const abi::Record& read) {
        return std::ranges::any_of(watches, [&read](const Watch& other) {
            const abi::Record& record = other.newest.record;
            return abi::is_write(record) &&
                   abi::physical_address(record) == abi::physical_address(read);
        });
    };
    for (const Watch& watch : watches) {
        const abi::Record& record = watch.newest.record;
        const bool is_data = data.has(record);
        if (is_data || (watch.varies() && !stays(watch))) {
            poll.kind = PollKind::handshake;
        }
        writes = writes || abi::is_write(record);
        if (abi::is_write(record) || is_data || !watch.known) {
            continue;
        }
        const std::uint64_t bits = awaited(watch);
        if (bits != 0 || (poll.bits == 0 && never_changed(watch) && !is_written(record))) {
            poll.read = watch.newest;
            poll.reads = watch.accesses;
            poll.bits = bits;
        }
    }
    const bool handshake = poll.kind == PollKind::handshake;
    if (poll.reads == 0 || (poll.bits == 0 && (writes || handshake) && !is_quick(poll))) {
        return std::nullopt;
    }
    poll.end = poll.bits != 0 ? PollEnd::value : handshake ? PollEnd::data_over : PollEnd::given_up;
    return poll;
}

// Accesses to interrupt numbers tell which thread continues. They are part of no driver's loop.
std::optional<Thread> PollFinder::add(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type != abi::RecordType::access) {
        return std::nullopt;
    }
    if (event.interrupt_id() != no_id) {
        if (threads_.follow(record)) {
            leave(threads_.of(record)); // a handler that runs again starts a new loop
        }
        return std::nullopt;
    }
    const Thread thread = threads_.of(record);
    State& state = state_of(thread, event.nanoseconds);
    data_.add(record);
    if (state.loop) {
        event.settle(); // a loop keeps its events, and most go on
    }
    state.repeats.add(event);
    follow(thread, state);
    return thread;
}

PollFinder::State& PollFinder::state_of(Thread thread, std::uint64_t now) {
    if (newest_ == nullptr || newest_->first != thread) {
        if (states_.size() == most_threads && !states_.contains(thread)) {
            forget_oldest();
        }
        newest_ = &*states_.try_emplace(thread).first;
    }
    State& state = newest_->second;
    if (now > state.time + longest_pause) {
        end(thread, state);
        state.repeats.clear();
    }
    state.time = now;
    return state;
}

// Forgets half of them at once, so that the search for the oldest is rare.
void PollFinder::forget_oldest() {
    std::vector<std::uint64_t> times;
    for (const auto& [thread, state] : states_) {
        times.push_back(state.time);
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    for (auto at = states_.begin(); at != states_.end();) {
        const bool old = at->second.time <= *middle;
        if (old) {
            end(at->first, at->second);
        }
        at = old ? states_.erase(at) : std::next(at);
    }
}

// An inner loop ends whenever the outer one continues, so it counts as part of the outer one.
void PollFinder::follow(Thread thread, State& state) {
    Repeats& repeats = state.repeats;
    if (state.loop && repeats.goes_on(state.loop->period())) {
        state.loop->add(repeats.back(0));
        return;
    }
    const unsigned period = repeats.period();
    if (period == 0) {
        if (end(thread, state)) {
            const Event next = repeats.back(0);
            repeats.clear();
            repeats.add(next);
        }
        return;
    }
    repeats.back(0).settle();
    state.loop.emplace(period);
    for (unsigned i = 2 * period + 1; i-- > 0;) {
        state.loop->add(repeats.back(i));
    }
}

bool PollFinder::end_loop(Thread thread, State& state, bool left) {
    std::optional<Poll> poll = poll_of(*state.loop, data_);
    state.loop.reset();
    if (!poll) {
        return false;
    }
    if (!left && poll->end != PollEnd::value) {
        poll->end = PollEnd::unended;
    }
    take_(thread, *poll);
    return true;
}

void PollFinder::leave(Thread thread) {
    const auto found = states_.find(thread);
    if (found != states_.end()) {
        end(thread, found->second);
        found->second.repeats.clear();
    }
}

std::optional<std::uint64_t> PollFinder::begun(Thread thread) const {
    const auto found = states_.find(thread);
    return found == states_.end() || !found->second.loop
               ? std::nullopt
               : std::optional(found->second.loop->first().number);
}

void PollFinder::cut(Thread thread) {
    const auto found = states_.find(thread);
    if (found != states_.end()) {
        end(thread, found->second, false);
        found->second.repeats.clear();
    }
}

void PollFinder::cut_all() {
    for (auto& [thread, state] : states_) {
        end(thread, state, false);
    }
    states_.clear();
    newest_ = nullptr;
}

namespace {

constexpr char joint = '\0'; ///< between the texts of a name; no text contains it

table::Cell conditions_of(const Polls& polls) {
    std::string text;
    for (const Condition& one : polls.conditions) {
        if (one.bits != 0) {
            text += text.empty() ? "" : " or ";
            text += registers::bits_text(polls.reg, one.bits, one.value, polls.size, polls.within);
        }
    }
    const bool waited = polls.ended_by(PollEnd::given_up) + polls.ended_by(PollEnd::unended) > 0;
    return !text.empty() ? table::Cell(text)
           : waited      ? table::Cell(fmt::format("not {:#x}", polls.stayed))
                         : table::Cell();
}

table::Row row_of(std::string_view name, const Polls& polls) {
    table::Row row;
    for (std::string_view rest = name; !rest.empty();) { // a joint follows each text
        const std::size_t end = rest.find(joint);
        row.emplace_back(std::string(rest.substr(0, end)));
        rest.remove_prefix(end + 1);
    }
    const Condition& first = polls.conditions.front();
    const auto known = [&first](std::uint64_t number) {
        return first.bits == 0 ? table::Cell() : table::Cell(table::Hex{number});
    };
    row.insert(row.begin() + 2, {conditions_of(polls), known(first.bits), known(first.value)});
    row.insert(row.end(),
               {polls.times, polls.reads, polls.time, polls.longest, polls.ended_by(PollEnd::value),
                polls.ended_by(PollEnd::given_up), polls.ended_by(PollEnd::data_over),
                polls.ended_by(PollEnd::unended), polls.event});
    return row;
}

std::vector<table::Column> columns() {
    using enum table::Look;
    return {{"device", "device", device},
            {"register", "register"},
            {"condition", "until"},
            {"bits"},
            {"value"},
            {"function", "function"},
            {"caller", "caller"},
            {"class", "class"},
            {"times", "times", number, 7},
            {"reads", "reads", number, 8},
            {"total_ns", "total s", seconds, 10},
            {"longest_ns", "max us", micros, 11},
            {"by_value", "by value", number, 8},
            {"given_up", "given up", number, 8},
            {"data_over"},
            {"unended", "unended", number, 7},
            {"longest_event", "event", number, 8}};
}

} // namespace

Polls polls_of(const Poll& poll) {
    Polls polls;
    const abi::Record& record = poll.read.record;
    polls.times = 1;
    polls.reads = poll.reads;
    polls.time = polls.longest = poll.nanoseconds();
    polls.event = poll.first.number;
    polls.ended[static_cast<std::size_t>(poll.end)] = 1;
    polls.conditions.front() = {poll.bits, record.value & poll.bits};
    polls.place = place_of(record);
    polls.reg = poll.read.reg();
    polls.size = abi::access_size(record);
    polls.within = within_register(poll.read);
    polls.stayed = record.value;
    return polls;
}

// The guest awaited what all polls have in common; other bits changed by chance.
void Polls::add(const Condition& one) {
    for (Condition& known : conditions) {
        const std::uint64_t common = known.bits & one.bits & ~(known.value ^ one.value);
        if (common != 0) {
            known = {common, known.value & common};
            return;
        }
        if (known.bits == 0) {
            known = one;
            return;
        }
    }
}

void Polls::add(const Polls& other) {
    if (times == 0) {
        *this = other;
        return;
    }
    times += other.times;
    reads += other.reads;
    time += other.time;
    if (other.longest > longest) {
        longest = other.longest;
        event = other.event;
    }
    for (std::size_t i = 0; i < poll_ends; ++i) {
        ended[i] += other.ended[i];
    }
    for (const Condition& one : other.conditions) {
        if (one.bits != 0) {
            add(one);
        }
    }
}

void PollTable::add(const Poll& poll) {
    const std::string reg = registers::register_text(poll.read.reg(), poll.read.offset());
    std::string function, caller;
    set_name(function, poll.read, Key::function);
    set_name(caller, poll.read, Key::caller);
    name_.clear();
    for (const std::string_view text :
         {poll.read.device(), std::string_view(reg), std::string_view(function),
          std::string_view(caller), kind_text(poll.kind)}) {
        name_.append(text).push_back(joint);
    }
    polls_.of(name_).add(polls_of(poll));
    if (also_) {
        also_(poll);
    }
}

table::Table PollTable::table(std::size_t most) {
    table::Table table{columns(), {}};
    std::vector<const std::pair<const std::string, Polls>*> in_order;
    for (const auto& one : polls_.held()) {
        if (!finder_.data().has(one.second.place)) { // known only at the end
            in_order.push_back(&one);
        }
    }
    std::ranges::stable_sort(in_order, std::greater(),
                             [](const auto* one) { return one->second.time; });
    if (most < in_order.size()) {
        table.closing = fmt::format("... {} more", in_order.size() - most);
        in_order.resize(most);
    }
    table.more = [in_order = std::move(in_order)](const table::TakeRow& take) {
        for (const auto* one : in_order) {
            take(row_of(one->first, one->second));
        }
    };
    add_left_out(table.left_out, polls_.rest().times, "loops of lines", polls_.most());
    return table;
}

std::string condition_text(const Poll& poll) {
    const abi::Record& record = poll.read.record;
    return poll.bits == 0
               ? ""
               : registers::bits_text(poll.read.reg(), poll.bits, record.value,
                                      abi::access_size(record), within_register(poll.read));
}

} // namespace mmioscope::analysis
