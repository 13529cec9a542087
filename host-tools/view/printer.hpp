// Prints events as lines, to a person or a pipe.
#pragma once

#include "analysis/kept_access.hpp"
#include "analysis/merging.hpp"
#include "reading/drive.hpp"
#include "records/groups.hpp"
#include "view/line.hpp"

#include <cstdint>
#include <cstdio>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::view {

struct PrintOptions {
    bool collapse = false; ///< repeated accesses as one line with a count, every quarter second
    bool changes = false;  ///< only accesses that change their register's last value; not collapsed
    std::uint64_t limit = std::numeric_limits<std::uint64_t>::max(); ///< number of event lines
    bool numbers = false;  ///< event numbers at the start of each line
    bool stacks = false;   ///< below an event the callers that its stack shows; not collapsed
    bool own = true;       ///< include the hypervisor's own accesses
    std::uint64_t gap = 0; ///< shows gaps of at least this many ns; 0: none
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max(); ///< only the last N lines
    bool of_end = false; ///< the trace is read from near its end, so nothing counts earlier lines
};

class Printer final : public reading::Consumer {
public:
    /// Writes to `out`, which belongs to the caller.
    Printer(std::FILE* out, const PrintOptions& options, const LineStyle& style);

    void add(const Event& event) override;
    void add_all(std::span<const Event> events) override;
    void add_derived(const DerivedEvent& derived) override;
    void add_unended(const Event& marker) override;
    /// The terminal has `width` columns now: if lines are fitted to it, fits the next ones, below
    /// new titles.
    void fit(std::size_t width);
    /// Forgets those added so far.
    void drop_unended() { unended_.clear(); }

    /// A line of words at its place in time: `nanoseconds` and `ticks` as in
    /// LineFormat::append_time().
    void add(std::int64_t nanoseconds, std::uint64_t ticks, const std::string& words);

    void forget() override;

    /// Prints the events held back for counting.
    void flush() override;

    /// The trace is over: prints the rest, and last the accesses that began and did not end.
    void finish() override;

    /// The number of lines of events, those before the last ones too.
    std::uint64_t lines() const { return lines_; }

    /// The number of accesses beyond the limit.
    std::uint64_t not_printed() const { return not_printed_; }

    /// The number of accesses to registers whose changes were not looked for.
    std::uint64_t left_out() const { return values_ ? values_->left_out() : 0; }

    /// `out` accepts no more (its reader is gone).
    bool enough() const override { return std::ferror(out_) != 0; }

private:
    struct Begun {
        Event event;
        std::string words; ///< the line after its time, once names become invalid
    };

    /// One of the last lines.
    struct Kept {
        std::string line;                    ///< once it is made
        std::optional<Event> event;          ///< settled; of a line that is not made yet
        std::string more;                    ///< text behind that event
        std::optional<std::uint64_t> before; ///< the register's value until then, to show
    };

    void keep_begun(const Event& event);
    bool is_shown(const Event& event) const;
    void show(const Event& event);
    void show_change(const Event& event);
    void show_payload(const Event& event, bool shown);
    void show_if_room(const Event& event, std::optional<std::uint64_t> before);
    void show(const Begun& begun);
    void render(Begun& begun);
    void print(const Event& event, std::uint64_t count, std::string_view more,
               std::optional<std::uint64_t> before = {});
    bool begin_line(std::uint64_t number);
    void start_line(std::uint64_t number);
    void append_number(std::uint64_t number);
    std::size_t skip_quickly(std::span<const Event> events);
    std::size_t add_quickly(std::span<const Event> events);
    void begin();
    void end_line();
    Kept* keep();
    void make_kept();
    void show_last();
    void print_gap(std::int64_t nanoseconds);
    void write();

    std::FILE* out_;
    PrintOptions options_;
    LineFormat format_;
    /// Prints lines of what remains after merging repeats.
    class Lines final : public reading::Consumer {
    public:
        explicit Lines(Printer& printer) : printer_(printer) {}
        void add(const Event& event) override { printer_.print(event, 1, ""); }
        void add_derived(const DerivedEvent& derived) override {
            printer_.print(derived.first, derived.count, derived.text);
        }

    private:
        Printer& printer_;
    } lines_of_collapsed_{*this};
    analysis::Collapse collapse_;
    std::optional<analysis::LastValues> values_; ///< if only changes are printed
    trace::OpenAccesses begun_;
    std::map<unsigned, Begun> begun_events_; ///< index in begun_, by CPU
    std::vector<Begun> unended_;             ///< markers
    TextBuffer text_;                        ///< lines not written yet
    std::size_t enough_;                     ///< writes text of this size at once
    std::uint64_t lines_ = 0;                ///< of events
    bool titled_ = false;                    ///< the text above the first line is printed
    std::uint64_t not_printed_ = 0;
    std::optional<std::int64_t> seen_; ///< ns; the last event shown, or line of words
    std::list<Kept> last_;             ///< candidates for the last lines
    bool unmade_ = false;              ///< some of them may be without a line
    std::uint64_t dropped_ = 0;        ///< number of lines before them
};

} // namespace mmioscope::view
