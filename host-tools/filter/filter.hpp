// The filter of -F, compiled once and evaluated for each event.
#pragma once

#include "file/trace_reader.hpp"
#include "filter/parser.hpp"
#include "filter/record_filter.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::filter {

class Filter {
public:
    /// Throws Error (bad_input) that says where `text` is no filter.
    explicit Filter(std::string_view text, const Settings& settings = {});
    Filter(const Filter&) = delete;
    Filter& operator=(const Filter&) = delete;

    /// Learns what the trace knows and its events do not say: all names of its devices, and how
    /// long a tick is. Returns a line for each device that is asked for and that it has not.
    std::vector<std::string> bind(const trace::TraceReader& reader);

    /// All names of a kind (TextField::kind) that the trace has; nothing: nobody knows.
    using NamesOf = std::function<std::optional<std::vector<std::string>>(std::string_view kind)>;
    /// A line for each name that is asked for and that neither an event had nor the trace has.
    /// Behind the last event.
    std::vector<std::string> unknown(const NamesOf& names_of);

    /// Times are since `start` (CNTPCT).
    void start_at(std::uint64_t start) { context_.start = start; }

    /// Of at most 64 records, those whose bits `of` has: the bits of these for whose events it may
    /// hold, whatever names they have. Behind bind().
    std::uint64_t may_hold(std::span<const abi::Record> records, std::uint64_t of) const {
        return of_record_.may_hold(records, of);
    }
    /// What that takes of a packed record. Behind bind().
    pack::ColumnSet columns() const { return of_record_.columns(); }
    /// It holds wherever it may.
    bool needs_no_names() const { return of_record_.decides(); }

    bool operator()(const Event& event) const {
        return by_ == By::event ? holds(root_, event, context_) : holds_by_number(event);
    }

    /// What decides beside the numbers of a record: it says the same of all events with the same
    /// Event::place_id(), code_id() or context().
    enum class By { place, code, context, event };
    By by() const { return by_; }
    /// By that number it was asked before, and did not hold.
    bool has_refused(std::uint64_t number) const {
        const Known& known = known_[number % most_known];
        return known.number == number && known.state == Known::State::fails;
    }

    /// Ids of events mean nothing from now on.
    void forget();

    /// A text that is compiled to the same filter.
    std::string written() const { return filter::written(root_); }

private:
    /// What it says of the events with a number.
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
    Context context_; ///< of_record_ knows where it is: neither copied nor moved
    RecordFilter of_record_;
};

} // namespace mmioscope::filter
