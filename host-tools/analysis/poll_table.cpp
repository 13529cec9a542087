#include "analysis/poll_table.hpp"

#include "analysis/register_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace mmioscope::analysis {

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
