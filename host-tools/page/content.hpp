// What the tool knows of each event beside its record, for the page: its device and register,
// function, caller, task and interrupt. Events share most of these, so each different combination
// is a context with a number.
#pragma once

#include "analysis/advice.hpp"
#include "analysis/count.hpp"
#include "analysis/dmesg.hpp"
#include "analysis/phases.hpp"
#include "analysis/register_classes.hpp"
#include "analysis/time_spent.hpp"
#include "reading/drive.hpp"
#include "reading/tally.hpp"
#include "reading/trace.hpp"
#include "records/notes.hpp"
#include "system/error.hpp"
#include "system/escape.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mmioscope::page {

class EventNames final : public reading::Consumer {
public:
    void add(const Event& event) override;
    void forget() override { known_places_.clear(), known_interrupts_.clear(), known_.clear(); }

    /// The context of each record, from number 1 on; 0: no event of its own.
    std::span<const std::uint32_t> contexts() const { return contexts_; }
    /// An object: Names of app/src/facts.ts.
    std::string all() const;

private:
    /// Different things of one kind, as JSON, numbered from 1 on.
    class Set {
    public:
        std::uint32_t number(std::string json);
        /// An array, whose element 0 is null.
        std::string all() const;

    private:
        std::unordered_map<std::string, std::uint32_t> numbers_;
        std::vector<const std::string*> all_; ///< in their order
    };

    std::uint32_t place(const Place& place, std::uint16_t device);
    std::uint32_t reg(const Register* reg);
    std::uint32_t location(const Location* at);
    std::uint32_t task(const Task* task);
    std::uint32_t context(const Event& event);

    using Context = std::array<std::uint32_t, 5>; ///< place, code, caller, task, interrupt

    Set registers_, places_, locations_, tasks_, interrupts_;
    std::map<Context, std::uint32_t> numbers_;
    std::vector<Context> sets_; ///< by number, from 1 on
    // Numbers of what was named before, by ids that are valid until forget().
    std::unordered_map<Id, std::uint32_t> known_places_, known_interrupts_;
    std::unordered_map<std::uint64_t, Context> known_; ///< by Event::context()
    std::vector<std::uint32_t> contexts_;
    std::vector<std::pair<std::uint64_t, std::string>> texts_; ///< by the number of the event
};

// JSON (RFC 8259) for the page.

/// A string with its quotes.
inline std::string json(std::string_view text) {
    fmt::memory_buffer quoted;
    append_json(quoted, text);
    return fmt::to_string(quoted);
}

/// JavaScript's numbers are exact below 2^53: a larger one is a string, "0x...".
inline std::string json(std::uint64_t value) {
    return value >> 53 == 0 ? fmt::format("{}", value) : fmt::format("\"{:#x}\"", value);
}

/// An array; `text` gives the JSON of one element.
template <typename Range, typename Function>
std::string json_list(Range&& range, const Function& text) {
    std::string list;
    for (auto&& one : range) {
        list += list.empty() ? '[' : ',';
        list += text(one);
    }
    return list.empty() ? "[]" : list + ']';
}

/// An array of strings.
template <typename Range>
std::string json_list(Range&& range) {
    return json_list(range, [](const auto& one) { return json(one); });
}

// What the analyses say of the whole trace, for the page: tables, and spans of time for its lanes.

class Tables {
public:
    /// They get all events before all() is called.
    std::vector<reading::Consumer*> consumers() {
        return {&time_, &advisor_, &phases_, &registers_, &counts_};
    }

    /// The members "tables" and "spans" of an object.
    std::string all(const trace::TraceReader& reader, const trace::Summary& summary,
                    std::span<const analysis::DmesgLine> kernel_log);

private:
    void add(const analysis::Poll& poll);

    analysis::TimeSpent time_;
    analysis::Advisor advisor_{[this](const analysis::Poll& poll) { add(poll); }};
    analysis::Phases phases_{{}};
    analysis::RegisterClasses registers_;
    analysis::Counts counts_{analysis::all_keys(), analysis::most_names};
    std::vector<std::string> poll_spans_; ///< JSON
};

// Writes a trace as one page for a browser. The page (app/) is compiled into the program; it holds
// the trace itself, byte for byte, and what only the program can tell of its events.

/// The page without data, with @FACTS@, @NAMES@ and @TRACE@ where they go (made by embed.sh).
std::string_view shell();

struct What {
    std::string name;            ///< of the trace, as people know it
    reading::TraceOptions trace; ///< of a packed trace that can be read twice; selects nothing
    reading::DriveOptions drive;
    bool cut = false;                                 ///< it has only a part of a longer one
    std::vector<analysis::DmesgLine> kernel_log = {}; ///< with the trace's times
    trace::Notes notes = {};
};

/// Called with each piece of the page.
using Write = std::function<void(std::string_view)>;

/// Whether the file can be embedded as it is: a trace in one file, sound, and packed.
bool is_packed_file(const std::string& path);

struct Verdict {
    std::string text;
    Status status;
    std::uint64_t records;
};

/// Reads the trace. Throws Error (bad_input) if it is too large for a browser.
Verdict write_page(const What& what, const Write& write);

} // namespace mmioscope::page
