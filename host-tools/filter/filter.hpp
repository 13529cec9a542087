// The filter of -F, compiled once and evaluated for each event.
#pragma once

#include "file/trace_reader.hpp"
#include "filter/expression.hpp"
#include "filter/parser.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::filter {

// The part of a filter that a record alone decides, before any name is looked up.

/// Made from a filter's tree without the tests that need names: keeps each record whose event may
/// pass the filter. A list of tests, each with the next step for yes and no.
class RecordFilter {
public:
    /// Keeps all records and decides nothing.
    RecordFilter() = default;
    /// `context` outlives this.
    RecordFilter(const Node& root, const Context& context);

    /// Which events may pass the filter, whatever their names: of at most 64 records, those with a
    /// bit set in `of`. Returns their bits.
    std::uint64_t may_hold(std::span<const abi::Record> records, std::uint64_t of) const;

    /// The columns of a packed record that it uses.
    trace::ColumnSet columns() const { return columns_; }

    /// Whether may_hold() is the exact result of the filter.
    bool decides() const { return decides_; }

private:
    /// Results, in place of a next step.
    static constexpr std::int32_t keep = -1;
    static constexpr std::int32_t drop = -2;

    /// Whether a number of the record is in a range.
    struct Step {
        EventField::Which which;
        EventField::Masked range;
        std::int32_t yes; ///< the next step, keep or drop
        std::int32_t no;
    };

    std::int32_t add(const Node& node, std::int32_t yes, std::int32_t no, bool kept_if);
    std::int32_t add(const NumberTest& test, std::int32_t yes, std::int32_t no);
    std::int32_t add(const TextTest& test, std::int32_t yes, std::int32_t no);

    const Context* context_ = nullptr;
    std::vector<Step> steps_; ///< each leads only to earlier ones
    std::int32_t first_ = keep;
    mutable std::vector<std::uint64_t> reach_; ///< by step: bits of records
    trace::ColumnSet columns_ = trace::Column::site;
    bool decides_ = false;
};

/// For each region of the trace: its name in output, long and short, its names in the tree, and its
/// `compatible` strings with and without the manufacturer ("arm,pl011", "pl011").
std::vector<std::vector<std::string>> names_of_devices(const trace::TraceReader& reader);

/// The text of the filter for the device DEV of a command line. Throws Error (bad_input) if `name`
/// has a quote.
std::string of_device(const std::string& name);

class Filter {
public:
    /// Throws Error (bad_input) with the place of the error if `text` is not a filter.
    explicit Filter(std::string_view text, const Settings& settings = {});
    Filter(const Filter&) = delete;
    Filter& operator=(const Filter&) = delete;

    /// Takes from the trace what its events do not have: all names of its devices, and the length
    /// of a tick. Returns one line for each device in the filter that the trace lacks.
    std::vector<std::string> bind(const trace::TraceReader& reader);

    /// Calls `visit` with all names of a kind (EventField::kind) in the trace; false: not all are
    /// known.
    using EachName = std::function<bool(std::string_view kind,
                                        const std::function<void(std::string_view name)>& visit)>;
    /// One line for each name in the filter that no event had, if that may be a mistake. Call it
    /// after the last event.
    std::vector<std::string> unmet(const EachName& each_name);

    /// Sets CNTPCT at time 0.
    void start_at(std::uint64_t start) { context_.start = start; }

    /// Which events may match, whatever their names: of at most 64 records, those with a bit set in
    /// `of`. Returns their bits. Call it after bind().
    std::uint64_t may_hold(std::span<const abi::Record> records, std::uint64_t of) const {
        return of_record_.may_hold(records, of);
    }
    /// The columns of a packed record that may_hold() uses. Call it after bind().
    trace::ColumnSet columns() const { return of_record_.columns(); }
    /// Whether may_hold() is the exact result.
    bool needs_no_names() const { return of_record_.decides(); }

    bool operator()(const Event& event) const {
        return by_ == By::event ? holds(root_, event, context_) : holds_by_number(event);
    }

    /// What decides the result besides the numbers in the record: events with the same
    /// Event::place_id(), code_id() or context() have the same result.
    enum class By { place, code, context, event };
    By by() const { return by_; }
    /// Whether the filter is known to reject events with this number (see By).
    bool has_refused(std::uint64_t number) const {
        const Known& known = known_[number % most_known];
        return known.number == number && known.state == Known::State::fails;
    }

    /// Ids of events become invalid.
    void forget() { known_.assign(most_known, {}); }

private:
    /// The result for the events with a number (see By).
    struct Known {
        enum class State : std::uint8_t { unasked, holds, fails };
        std::uint64_t number = 0;
        State state = State::unasked;
    };

    static constexpr std::size_t most_known = 2048;

    bool holds_by_number(const Event& event) const;

    Node root_;
    By by_;
    mutable std::vector<Known> known_;
    Context context_; ///< of_record_ points to it: neither copied nor moved
    RecordFilter of_record_;
};

} // namespace mmioscope::filter
