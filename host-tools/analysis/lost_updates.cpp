#include "analysis/lost_updates.hpp"

#include "analysis/count.hpp"
#include "analysis/repeats.hpp"
#include "analysis/shared_use.hpp"
#include "reading/kept.hpp"
#include "records/ticks.hpp"

#include <string>
#include <string_view>

namespace mmioscope::analysis {

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
