#include "analysis/calls.hpp"

#include "analysis/count.hpp"
#include "analysis/count_table.hpp"
#include "records/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

namespace mmioscope::analysis {

namespace {

std::string text_of(const Event& event, Key key) {
    std::string text;
    set_name(text, event, key);
    return text;
}

class Calls final : public Analysis {
public:
    Calls(CallsBy by, std::size_t most) : by_(by), most_(most) {}

    void begin(const trace::TraceReader& reader) override {
        frequency_ = reader.info() ? reader.info()->counter_frequency : 0;
    }

    void add(const Event& event) override {
        switch (event.record.type) {
        case abi::RecordType::call: call(event); return;
        case abi::RecordType::ret: ret(event); return;
        case abi::RecordType::hits: hits(event); return;
        case abi::RecordType::access: access(event); return;
        default: return;
        }
    }

    table::Table table() override {
        table::Table table{columns(), {}};
        InOrder rows = in_order();
        if (most_ != 0 && most_ < rows.size()) {
            table.closing = fmt::format("... {} more", rows.size() - most_);
            rows.resize(most_);
        }
        for (const auto* row : rows) {
            table.rows.push_back(row_of(row->first, row->second));
        }
        add_left_out(table.left_out, rows_.rest().calls, "calls of rows", rows_.most());
        return table;
    }

private:
    struct Row {
        std::uint64_t calls = 0, returns = 0;
        std::uint64_t others = 0;   ///< calls without a record
        std::uint64_t ticks = 0;    ///< of those that have returned
        std::uint64_t accesses = 0; ///< to devices, by the same thread while they were open
        std::uint32_t longest = 0;  ///< ticks
        std::uint64_t event = 0;    ///< number of the call that took longest
        Histogram durations;        ///< ticks
    };
    struct Call {
        std::uint32_t pc, lr, sp;
        Thread thread;
        std::uint64_t time, number;
        std::uint64_t accesses = 0;
        std::string name; ///< of its row
        Row* row = nullptr;
    };
    static constexpr char joint = '\0'; ///< between the texts of a name; no text contains it
    using Rows = CappedNames<Row>;
    using InOrder = std::vector<const std::pair<const std::string, Row>*>;

    void access(const Event& event) {
        const Thread thread = threads_.with(event);
        Call* const call = open_.innermost(event.record);
        if (call != nullptr && call->thread == thread) {
            ++call->accesses;
        }
    }

    void call(const Event& event) {
        const abi::Record& record = event.record;
        auto& open = open_.at(record);
        Call call{.pc = record.pc,
                  .lr = record.lr,
                  .sp = record.sp,
                  .thread = threads_.of(record),
                  .time = record.time,
                  .number = event.number,
                  .name = name_of(event, open)};
        call.row = &rows_.of(call.name);
        ++call.row->calls;
        if ((record.flags & abi::flag_returns) != 0) {
            open_.open_one(open, call);
        }
    }

    void ret(const Event& event) {
        auto& open = open_.at(event.record);
        const auto ended = decltype(open_)::ending(open, event.record);
        std::uint64_t accesses = 0; // of those inside, too
        for (auto call = ended.rbegin(); call != ended.rend(); ++call) {
            Row& row = *call->row;
            accesses += call->accesses;
            const auto took = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(event.record.time - call->time, UINT32_MAX));
            ++row.returns;
            row.ticks += took;
            row.accesses += accesses;
            row.durations.add(took);
            if (row.event == 0 || took > row.longest) {
                row.longest = took;
                row.event = call->number;
            }
        }
        open.resize(open.size() - ended.size());
        if (!open.empty()) {
            open.back().accesses += accesses;
        }
    }

    /// By whom they were made is not known.
    void hits(const Event& event) {
        const std::string of =
            by_ == CallsBy::caller || by_ == CallsBy::task ? joint + std::string() : "";
        Row& row = rows_.of(text_of(event, Key::function) + of);
        row.others += (event.record.value & 0xffff'ffff) + (event.record.value >> 32);
    }

    /// In a tree, the row above is that of the call in which this one is.
    std::string name_of(const Event& event, const std::vector<Call>& open) const {
        std::string name = by_ == CallsBy::tree && !open.empty() ? open.back().name + joint : "";
        name += text_of(event, Key::function);
        if (by_ == CallsBy::caller || by_ == CallsBy::task) {
            name += joint + text_of(event, by_ == CallsBy::caller ? Key::caller : Key::task);
        }
        return name;
    }

    InOrder in_order() const {
        InOrder rows;
        if (by_ == CallsBy::tree) {
            add_tree(rows, {});
            return rows;
        }
        for (const auto& row : rows_.held()) {
            rows.push_back(&row);
        }
        std::ranges::stable_sort(rows, std::greater(), [](const auto* row) {
            return std::tuple(row->second.ticks, row->second.calls, row->second.others);
        });
        return rows;
    }

    std::vector<table::Column> columns() const {
        using enum table::Look;
        std::vector<table::Column> columns{{"function"}, {"", "function"}};
        switch (by_) {
        case CallsBy::function: break;
        case CallsBy::caller: columns.push_back({"caller", "caller"}); break;
        case CallsBy::task: columns.push_back({"task", "task"}); break;
        case CallsBy::tree: columns.push_back({"path"}); break;
        }
        columns.insert(columns.end(), {{"calls", "calls", number, 8},
                                       {"returns", "returns", number, 8},
                                       {"total_ns", "total s", seconds, 10},
                                       {"mean_ns", "mean us", micros, 10},
                                       {"p99_ns", "99 % us", micros, 10},
                                       {"longest_ns", "max us", micros, 11},
                                       {"accesses", "accesses", number, 8},
                                       {"longest_event", "event", number, 8},
                                       {"without_record", "no record", number, 9}});
        return columns;
    }

    table::Row row_of(std::string name, const Row& row) const {
        const bool tree = by_ == CallsBy::tree;
        const std::size_t at = tree ? name.rfind(joint) : name.find(joint);
        const std::string before = name.substr(0, at);
        const std::string behind = at == std::string::npos ? std::string() : name.substr(at + 1);
        const auto depth = static_cast<std::size_t>(std::ranges::count(name, joint));
        const std::string& function = tree && depth > 0 ? behind : before;
        table::Row cells{function, std::string(tree ? 2 * depth : 0, ' ') + function};
        if (tree) {
            std::ranges::replace(name, joint, ';');
            cells.emplace_back(std::move(name));
        } else if (by_ != CallsBy::function) {
            cells.emplace_back(behind);
        }
        const auto time = [&](std::uint64_t ticks) {
            return frequency_ == 0 || row.returns == 0
                       ? table::Cell()
                       : table::Cell(trace::nanoseconds(ticks, frequency_));
        };
        const std::uint64_t mean = row.ticks / std::max(row.returns, std::uint64_t{1});
        const std::uint64_t most = std::min<std::uint64_t>(row.durations.at(99), row.longest);
        cells.insert(cells.end(),
                     {row.calls, row.returns, time(row.ticks), time(mean), time(most),
                      time(row.longest), row.accesses,
                      row.returns == 0 ? table::Cell() : table::Cell(row.event), row.others});
        return cells;
    }

    void add_tree(InOrder& to, std::string_view above) const {
        InOrder below;
        const std::string first = above.empty() ? "" : std::string(above) + joint;
        for (auto row = rows_.held().lower_bound(first);
             row != rows_.held().end() && row->first.starts_with(first); ++row) {
            if (row->first.find(joint, first.size()) == std::string::npos) {
                below.push_back(&*row);
            }
        }
        std::ranges::stable_sort(below, std::greater(),
                                 [](const auto* row) { return row->second.ticks; });
        for (const auto* row : below) {
            to.push_back(row);
            add_tree(to, row->first);
        }
    }

    CallsBy by_;
    std::size_t most_;            ///< rows; 0: all
    std::uint32_t frequency_ = 0; ///< of the counter, Hz; 0: shows no times
    Threads threads_;
    trace::OpenCalls<Call> open_;
    Rows rows_{4096}; ///< by the texts of their row, joined
};

} // namespace

std::unique_ptr<Analysis> make_calls(CallsBy by, std::size_t most) {
    return std::make_unique<Calls>(by, most);
}

During::During(const std::string& function) : begins_("call && func==" + function) {}

std::span<const Event> During::inside(std::span<const Event> events) {
    inside_.clear();
    std::ranges::copy_if(events, std::back_inserter(inside_),
                         [this](const Event& event) { return is_inside(event); });
    return inside_;
}

bool During::is_inside(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type == abi::RecordType::call) {
        return calls(event);
    }
    if (record.type == abi::RecordType::ret) {
        return returns(record);
    }
    if (record.type == abi::RecordType::gap) {
        return true;
    }
    const Thread thread = threads_.with(event);
    const Call* const call = open_.innermost(record);
    return call != nullptr && call->inside && call->thread == thread;
}

bool During::calls(const Event& event) {
    const abi::Record& record = event.record;
    auto& open = open_.at(record);
    const bool inside = (!open.empty() && open.back().inside) || begins_(event);
    if ((record.flags & abi::flag_returns) != 0) {
        open_.open_one(open, {record.pc, record.lr, record.sp, threads_.of(record), inside});
    }
    return inside;
}

bool During::returns(const abi::Record& record) {
    auto& open = open_.at(record);
    const auto ended = decltype(open_)::ending(open, record);
    const bool inside = std::ranges::any_of(ended, &Call::inside);
    open.resize(open.size() - ended.size());
    return inside;
}

} // namespace mmioscope::analysis
