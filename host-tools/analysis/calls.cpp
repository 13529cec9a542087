#include "analysis/calls.hpp"

#include "analysis/count.hpp"
#include "records/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace mmioscope::analysis {

namespace {

std::string text_of(const Event& event, Key key) {
    std::string text;
    set_name(text, event, key);
    return text;
}

} // namespace

void Calls::add(const Event& event) {
    switch (event.record.type) {
    case abi::RecordType::call: call(event); return;
    case abi::RecordType::ret: ret(event); return;
    case abi::RecordType::hits: hits(event); return;
    case abi::RecordType::access: access(event); return;
    default: return;
    }
}

void Calls::access(const Event& event) {
    const Thread thread = threads_.with(event);
    Call* const call = open_.innermost(event.record);
    if (call != nullptr && call->thread == thread) {
        ++call->accesses;
    }
}

/// In a tree, the row above is that of the call in which this one is.
std::string Calls::name_of(const Event& event, const std::vector<Call>& open) const {
    std::string name = by_ == CallsBy::tree && !open.empty() ? open.back().name + joint : "";
    name += text_of(event, Key::function);
    if (by_ == CallsBy::caller || by_ == CallsBy::task) {
        name += joint + text_of(event, by_ == CallsBy::caller ? Key::caller : Key::task);
    }
    return name;
}

void Calls::call(const Event& event) {
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

/// By whom they were made is not known.
void Calls::hits(const Event& event) {
    const std::string of =
        by_ == CallsBy::caller || by_ == CallsBy::task ? joint + std::string() : "";
    Row& row = rows_.of(text_of(event, Key::function) + of);
    row.others += (event.record.value & 0xffff'ffff) + (event.record.value >> 32);
}

void Calls::ret(const Event& event) {
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

void Calls::add_tree(InOrder& to, std::string_view above) const {
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

Calls::InOrder Calls::in_order() const {
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

std::vector<table::Column> Calls::columns() const {
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

table::Row Calls::row_of(std::string name, const Row& row, std::uint32_t frequency) const {
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
        return frequency == 0 || row.returns == 0
                   ? table::Cell()
                   : table::Cell(trace::nanoseconds(ticks, frequency));
    };
    const std::uint64_t mean = row.ticks / std::max(row.returns, std::uint64_t{1});
    const std::uint64_t most = std::min<std::uint64_t>(row.durations.at(99), row.longest);
    cells.insert(cells.end(),
                 {row.calls, row.returns, time(row.ticks), time(mean), time(most),
                  time(row.longest), row.accesses,
                  row.returns == 0 ? table::Cell() : table::Cell(row.event), row.others});
    return cells;
}

table::Table Calls::table(std::uint32_t frequency, std::size_t most) const {
    table::Table table{columns(), {}};
    InOrder rows = in_order();
    if (most != 0 && most < rows.size()) {
        table.closing = fmt::format("... {} more", rows.size() - most);
        rows.resize(most);
    }
    for (const auto* row : rows) {
        table.rows.push_back(row_of(row->first, row->second, frequency));
    }
    add_left_out(table.left_out, rows_.rest().calls, "calls of rows", rows_.most());
    return table;
}

} // namespace mmioscope::analysis
