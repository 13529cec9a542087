// What the calls of probed functions took: how often, how long, and with how many accesses.
#pragma once

#include "analysis/count_table.hpp"
#include "analysis/threads.hpp"
#include "reading/drive.hpp"
#include "records/open_calls.hpp"
#include "system/capped_map.hpp"
#include "table/table.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mmioscope::analysis {

/// What makes a row.
enum class CallsBy {
    function,
    caller, ///< a function and where it was called
    task,   ///< a function and the task
    tree,   ///< the probed functions that were open, the outermost first
};

class Calls final : public reading::Consumer {
public:
    explicit Calls(CallsBy by) : by_(by) {}

    void add(const Event& event) override;

    /// At most `most` rows, 0: all; those that took most time first, a tree in its own order.
    /// `frequency`: of the counter, Hz; 0: shows no times. Valid while this object exists.
    table::Table table(std::uint32_t frequency, std::size_t most) const;

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

    void access(const Event& event);
    void call(const Event& event);
    void ret(const Event& event);
    void hits(const Event& event);
    std::string name_of(const Event& event, const std::vector<Call>& open) const;
    InOrder in_order() const;
    std::vector<table::Column> columns() const;
    table::Row row_of(std::string name, const Row& row, std::uint32_t frequency) const;
    void add_tree(InOrder& to, std::string_view above) const;

    CallsBy by_;
    Threads threads_;
    trace::OpenCalls<Call> open_;
    Rows rows_{4096}; ///< by the texts of their row, joined
};

} // namespace mmioscope::analysis
