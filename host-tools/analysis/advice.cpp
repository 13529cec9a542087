#include "analysis/advice.hpp"

#include "analysis/count.hpp"
#include "analysis/register_history.hpp"
#include "analysis/shared_use.hpp"
#include "records/kinds.hpp"
#include "records/losses.hpp"
#include "records/ticks.hpp"
#include "registers/fields_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace mmioscope::analysis {

void ReadBacks::add(const Event& event, Thread thread) {
    const abi::Record& record = event.record;
    Site& site = sites_.of(place_of(record));
    const bool known = trace::value_known(record) && !sites_.is_rest(site);
    if (recent_.size() >= most_threads) {
        cut(); // sites miss a read, and are not told
    }
    Recent& recent = recent_[thread];
    const abi::Record& last = recent.event.record;
    const bool same = abi::physical_address(last) == abi::physical_address(record);
    Site* const written = std::exchange(recent.written, nullptr);
    if (abi::is_write(record)) {
        if (written != nullptr && !abi::is_write(last) && same) {
            --written->followed; // the read was the first half of a change
        }
        ++site.writes;
        recent.written = known ? &site : nullptr;
    } else {
        site.changed |= !known || (site.reads++ > 0 && site.value != record.value);
        site.value = record.value;
        if (written != nullptr && abi::is_write(last) && last.device == record.device &&
            (!same || last.value == record.value)) {
            if (written->followed == 0) {
                keep_unnamed(written->write, recent.event);
                keep_unnamed(written->read, event);
            }
            if (place_of(written->read.record) == place_of(record)) {
                recent.written = written;
                ++written->followed;
                written->ticks += record.duration;
            }
        }
    }
    keep_unnamed(recent.event, event);
}

std::vector<const ReadBacks::Site*> ReadBacks::found() const {
    std::vector<const Site*> all;
    for (const auto& [place, site] : sites_.held()) {
        const auto read = sites_.held().find(place_of(site.read.record));
        if (site.followed > 0 && site.followed == site.writes && read != sites_.held().end() &&
            (site.is_same() || !read->second.changed)) {
            all.push_back(&site);
        }
    }
    std::ranges::sort(all, {}, [](const Site* site) { return site->read.number; });
    return all;
}

namespace {

/// The most important one first.
constexpr std::string_view advice_kinds[] = {"fault",     "lost update", "never ended",
                                             "given up",  "polling",     "time",
                                             "read-back", "slow access"};
constexpr std::ptrdiff_t first_timed = 3; ///< this one, and those behind it, are about times

std::string time_text(std::uint64_t nanoseconds) {
    const auto time = static_cast<double>(nanoseconds);
    return nanoseconds >= 100'000'000 ? fmt::format("{:.2f} s", time / 1e9)
                                      : fmt::format("{:.2f} ms", time / 1e6);
}

std::string times_text(std::uint64_t times) {
    return times == 1 ? "once" : fmt::format("{} times", times);
}

std::string place_text(const Event& event) {
    return fmt::format("{} {}", event.device(),
                       registers::register_text(event.reg(), event.offset()));
}

/// " by update"; empty with --no-pc.
std::string who(const Event& event) {
    std::string name;
    set_name(name, event, Key::function);
    return event.record.pc == 0 ? "" : " by " + name;
}

} // namespace

void Advisor::add(const Poll& poll) {
    if (also_) {
        also_(poll);
    }
    const bool in_vain = poll.kind == PollKind::poll && poll.end != PollEnd::value;
    if (in_vain && poll.reads <= most_bits) {
        return;
    }
    if (polled_.size() < most_loops) {
        polled_.insert(place_of(poll.read.record));
    }
    if (poll.nanoseconds() <= poll.reads * spinning) {
        (in_vain ? in_vain_ : waits_)
            .of(place_text(poll.read) + who(poll.read))
            .add(polls_of(poll));
    }
}

void Advisor::add(const Event& event) {
    const abi::Record& record = event.record;
    polls_.add(event);
    sharing_.add(event);
    if (record.type == abi::RecordType::gap) {
        threads_ = {};
        read_backs_.cut();
        return;
    }
    if (record.type == abi::RecordType::fault) {
        Faults& faults =
            faults_.of(fmt::format("{}: {}{}", event.text(), place_text(event), who(event)));
        faults.event = faults.times++ == 0 ? event.number : faults.event;
    }
    if (record.type != abi::RecordType::access) {
        return;
    }
    first_ = std::min(first_, event.nanoseconds);
    last_ = std::max(last_, event.nanoseconds);
    Accesses& device = devices_[record.device];
    device.ticks += record.duration;
    if (device.count++ == 0 || record.duration > device.longest.record.duration) {
        keep_unnamed(device.longest, event);
    }
    if (event.interrupt_id() != no_id) { // a CPU's own register
        threads_.follow(record);
    } else {
        read_backs_.add(event, threads_.of(record));
    }
}

void Advisor::finish() {
    polls_.finish();
    sharing_.finish();
}

table::Table Advisor::table(std::uint32_t frequency) {
    std::multimap<std::pair<std::ptrdiff_t, std::uint64_t>, table::Row> rows; ///< in their order
    const auto put = [&rows, frequency]<typename... Args>(
                         std::string_view kind, std::uint64_t size, std::uint64_t event,
                         fmt::format_string<Args...> form, Args&&... args) {
        const std::ptrdiff_t order =
            std::ranges::find(advice_kinds, kind) - std::begin(advice_kinds);
        if (frequency != 0 || order < first_timed) {
            rows.emplace(std::pair(order, ~size),
                         table::Row{kind, fmt::format(form, std::forward<Args>(args)...), event});
        }
    };
    const auto time_of = [frequency](std::uint64_t ticks) {
        return trace::nanoseconds(ticks, frequency);
    };
    for (const auto& [what, faults] : faults_.held()) {
        put("fault", faults.times, faults.event, "{}, {}", what, times_text(faults.times));
    }
    sharing_.each_lost([&put](const LostUpdate& lost) {
        const Event& event = lost.write;
        put("lost update", lost.times, event.number, "{}{} took back {}, written{}, {}",
            place_text(event), who(event),
            registers::bits_text(event.reg(), lost.bits, lost.value, abi::access_size(event.record),
                                 within_register(event)),
            who(lost.other), times_text(lost.times));
    });
    sharing_.each_never_ended([&put](const NeverEnded& one) {
        put("never ended", one.times, one.first.number,
            "interrupt {} on cpu{} was acknowledged and never ended, {}", one.first.interrupt(),
            one.first.record.cpu, times_text(one.times));
    });
    // What carries data is known only at the end.
    for (const auto& [name, polls] : in_vain_.held()) {
        if (!polls_.data().has(polls.place)) {
            put("given up", polls.time, polls.event,
                "{} was polled and stayed {:#x}, {}: {} reads in {}", name, polls.stayed,
                times_text(polls.times), polls.reads, time_text(polls.time));
        }
    }
    for (const auto& [name, polls] : waits_.held()) {
        if (polls.time >= long_wait && !polls_.data().has(polls.place)) {
            put("polling", polls.time, polls.event, "{} took {}: {} reads in loops, {}", name,
                time_text(polls.time), polls.reads, times_text(polls.times));
        }
    }
    const std::uint64_t time = last_ - std::min(first_, last_);
    Event slowest;
    for (const auto& [number, device] : devices_) {
        if (device.longest.record.duration > slowest.record.duration) {
            slowest = device.longest;
        }
        if (time_of(device.ticks) > time / share) {
            put("time", device.ticks, device.longest.number, "{} took {} of {}, in {} accesses",
                device.longest.device(), time_text(time_of(device.ticks)), time_text(time),
                device.count);
        }
    }
    for (const ReadBacks::Site* site : read_backs_.found()) {
        // A status, read in a loop before each write, also follows the write before.
        if (site->writes >= many_writes && !polled_.contains(place_of(site->read.record))) {
            put("read-back", site->ticks, site->read.number,
                "{} is read{} after each of {} writes of {}: {}", place_text(site->read),
                site->is_same() ? " back" : "", site->writes, place_text(site->write),
                time_text(time_of(site->ticks)));
        }
    }
    if (time_of(slowest.record.duration) >= slow) {
        put("slow access", 0, slowest.number, "a {} of {}{} took {}, more than all others",
            abi::is_write(slowest.record) ? "write" : "read", place_text(slowest), who(slowest),
            time_text(time_of(slowest.record.duration)));
    }
    table::Table table{
        {{"finding", "finding"}, {"text", "text"}, {"event", "event", table::Look::number, 8}}, {}};
    for (auto& [order, row] : rows) {
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace mmioscope::analysis
