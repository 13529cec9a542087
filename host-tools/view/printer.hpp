// Prints events as lines, to a person or a pipe.
#pragma once

#include "analysis/collapse.hpp"
#include "reading/consumer.hpp"
#include "records/open_accesses.hpp"
#include "view/line.hpp"

#include <cstdint>
#include <cstdio>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::view {

struct PrintOptions {
    bool collapse = false; ///< repeated accesses as one line with a count, each quarter second
    std::uint64_t limit = std::numeric_limits<std::uint64_t>::max(); ///< lines of events
    bool numbers = false;  ///< of events, in front of each line
    bool own = true;       ///< the hypervisor's own accesses, too
    std::uint64_t gap = 0; ///< ns without an event that a line tells of; 0: none does
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max(); ///< lines, counted from the end
};

class Printer final : public reading::Consumer {
public:
    /// Writes to `out`, which stays the caller's.
    Printer(std::FILE* out, const PrintOptions& options, const LineStyle& style);

    void add(const Event& event) override;
    void add_all(std::span<const Event> events) override;
    void add_derived(const DerivedEvent& derived) override;
    void add_unended(const Event& marker) override;
    /// Those told so far are not meant any more.
    void drop_unended() { unended_.clear(); }

    /// A line of words, at its place in time: `nanoseconds` and `ticks` as LineFormat::time().
    void add(std::int64_t nanoseconds, std::uint64_t ticks, const std::string& words);

    void forget() override;

    /// Prints what is held back for counting.
    void flush() override;

    /// The trace is over: prints the rest, and last the accesses that have begun and not ended.
    void finish() override;

    /// Accesses beyond the limit, which were not printed.
    std::uint64_t not_printed() const { return not_printed_; }

    /// `out` takes nothing any more (its reader has gone).
    bool enough() const override { return std::ferror(out_) != 0; }

private:
    struct Begun {
        Event event;
        std::string words; ///< behind its time, once its names are forgotten
    };

    void keep_begun(const Event& event);
    bool is_shown(const Event& event) const;
    void show(const Event& event);
    void show(const Begun& begun);
    void render(Begun& begun);
    void print(const Event& event, std::uint64_t count, std::string_view more);
    bool begin_line(std::uint64_t number);
    void start_line(std::uint64_t number);
    std::size_t add_quickly(std::span<const Event> events);
    void begin();
    void end_line();
    void keep_last();
    void show_last();
    void tell_gap(std::int64_t nanoseconds);
    void write();

    std::FILE* out_;
    PrintOptions options_;
    LineFormat format_;
    /// Lines of what is left when repeats are one event.
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
    trace::OpenAccesses begun_;
    std::map<unsigned, Begun> begun_events_; ///< of begun_, by CPU
    std::vector<Begun> unended_;             ///< markers
    TextBuffer text_;                        ///< lines on their way
    std::size_t enough_;                     ///< so much text is written at once
    std::uint64_t lines_ = 0;                ///< of events
    bool titled_ = false;                    ///< what stands above the first line is there
    std::uint64_t not_printed_ = 0;
    std::optional<std::int64_t> seen_; ///< ns; the last event that is shown, or line of words
    std::deque<std::string> last_;     ///< lines that may be among the last
    std::uint64_t dropped_ = 0;        ///< lines in front of them
};

} // namespace mmioscope::view
