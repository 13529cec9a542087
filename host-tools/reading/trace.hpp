// A trace opened for reading, from a path or standard input: its head, then one event after
// another.
#pragma once

#include "filter/filter.hpp"
#include "reading/checkpoints.hpp"
#include "reading/naming.hpp"
#include "records/marker_text.hpp"
#include "records/module_mark.hpp"

#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::reading {

/// A time that a user names.
struct Moment {
    Moment(std::uint64_t since) : nanoseconds(since) {} // NOLINT: what most callers have
    Moment(std::uint64_t since, bool counter) : nanoseconds(since), of_counter(counter) {}

    std::uint64_t nanoseconds; ///< since the trace's first record
    bool of_counter = false;   ///< since the machine's counter was 0 instead
};

struct TraceOptions {
    std::string path = "-"; ///< "-": standard input
    bool one_file = false;  ///< of a recording in several files only this one (file/part_files.hpp)
    std::optional<Moment> from, to;     ///< `to` is outside
    std::optional<std::uint64_t> start; ///< CNTPCT that times are since; nothing: that record's
    std::optional<trace::NumberSpan> numbers; ///< of events (Event::number)
    std::vector<unsigned> cpus;               ///< only theirs, and all markers; empty: all CPUs'
    std::string filter;        ///< only events that it holds for (filter/parser.hpp); empty: all
    filter::Settings settings; ///< of `filter`
    /// Files that name the guest's code better than the trace does (symbols/symbol_files.hpp).
    std::vector<std::string> symbols;
    std::vector<std::string> registers; ///< files, as RegisterBook::add_file() takes them
    std::string tree;   ///< a device tree blob, for a trace without one; empty: none
    bool no_pc = false; ///< nobody is told where the guest's code is (strip_code.hpp)
    /// Reads on behind the end of the file, which is being written: is called each 100 ms while
    /// nothing comes, and ends the reading by false. Null: the end is the end.
    std::function<bool()> wait;
    /// Told of each section that is read, but of records. Null: nobody is.
    trace::TraceReader::Others sections;
    /// Texts of markers that have begun in the trace that this one goes on, and those that this one
    /// leaves open. Null: there are none.
    trace::MarkerTexts* markers = nullptr;
    /// Told of damaged parts, a line each. Null: they are told on standard error.
    std::function<void(const std::string&)> report;
};

/// Whether only some of the trace's events are wanted.
inline bool selects(const TraceOptions& options) {
    return options.from || options.to || options.numbers || !options.cpus.empty() ||
           !options.filter.empty();
}

/// Whether all that the options name makes sense, before there is a trace. Throws Error
/// (bad_input).
void check(const TraceOptions& options);

/// Throws Error (bad_input) if a machine of `count` CPUs has not all of `cpus`.
void check_cpus(std::span<const unsigned> cpus, unsigned count);

class Trace {
public:
    /// Reads up to the first record. What is compressed with zstd is decompressed; for a range of
    /// time no more is read than must be, where the file can seek. Throws Error (bad_input) if this
    /// is no trace, or has not the CPUs that are wanted. A device that the filter names and the
    /// trace has not is told of like damage.
    explicit Trace(const TraceOptions& options);

    /// The same of `source`, which outlives this; the path is what it is called.
    Trace(const TraceOptions& options, ByteSource& source);

    /// The next event in the order of time; null at the end. It holds until the next call, and so
    /// do its names but those of registers.
    const Event* next();
    /// The next several, at least one, at most so many and 64; none at the end.
    std::span<const Event> next_events(std::uint64_t most = UINT64_MAX);

    /// Goes on with the event of this number, or the first one behind it that is wanted: it is the
    /// same as if all in front of it had been read. Ids given before mean nothing then, as if
    /// on_forget() had told of it. Throws Error (bad_input) if the file cannot seek.
    void seek_number(std::uint64_t number);
    /// Likewise with the first event at this time or later.
    void seek_time(std::uint64_t nanoseconds);

    /// `tell` is called before ids of names that were given mean nothing any more (Names): within
    /// next(). Null: nobody is told.
    void on_forget(std::function<void()> tell) { forget_ = std::move(tell); }

    /// The markers, of those that are wanted, whose text has not ended; they hold as the event
    /// does. Nobody is told of them who gave TraceOptions::markers.
    std::vector<Event> unended();

    /// Whether code addresses are left out: of the trace's other parts nobody should show any.
    bool no_pc() const { return options_.no_pc; }
    /// As they were given, but for the times: all are since the trace's first record.
    const TraceOptions& options() const { return options_; }

    /// The head, and after the last event the losses and the end.
    const trace::TraceReader& reader() const { return *reader_; }
    Naming& naming() { return *naming_; }

private:
    void begin();
    bool next_block();
    void tell_unknown();
    void forget();
    void remember();
    void seek(const trace::Wanted& from);
    void go_back(const trace::Wanted& to, bool by_time);
    std::uint64_t ticks_at(std::uint64_t nanoseconds) const;
    bool next_group();
    bool in_range(const abi::Record& record, std::uint64_t number) const;
    void choose();
    trace::MarkerTexts& markers() {
        return options_.markers != nullptr ? *options_.markers : own_markers_;
    }
    bool may_hold_any(std::span<const abi::Record> records);
    std::uint64_t may_hold(std::uint64_t of) const;
    std::uint64_t without_refused(std::uint64_t of) const;
    void pass_to(std::size_t end);
    std::size_t fill_passed();
    void select();
    void end();

    TraceOptions options_;
    std::unique_ptr<filter::Filter>
        filter_;                ///< made first: a wrong one is told of before the trace
    std::uint64_t bound_ = 0;   ///< to the devices as they were then (device_changes())
    bool told_unknown_ = false; ///< what the filter asks for and the trace has not
    trace::TraceReader::Report report_;
    std::unique_ptr<ByteSource> own_; ///< null: it is somebody else's
    ByteSource& source_;
    std::unique_ptr<trace::TraceReader> reader_;
    std::unique_ptr<Naming> naming_;
    std::span<const abi::Record> section_; ///< what is left of the section read last
    std::span<const abi::Record> block_;   ///< and of at most Naming::most_in_block of it
    std::span<const abi::Record> group_;   ///< the records in front of that, at most 64
    std::uint64_t left_ = 0;               ///< bits of those of them that are still to come
    std::uint64_t hidden_ = 0;             ///< likewise of those that nobody is to know of
    std::size_t passed_ = 0;               ///< so many of them were passed
    bool pass_all_ = false;                ///< each is to be passed: it may tell something
    std::uint64_t number_ = 0;             ///< of the record in front of them
    std::bitset<256> cpus_;                ///< that are wanted
    trace::Wanted wanted_;                 ///< by the options
    trace::Wanted to_give_;                ///< of these, those from where somebody went to
    bool all_ = false;                     ///< CPUs, times and numbers are wanted
    Checkpoints checkpoints_;
    std::uint64_t latest_ = 0; ///< of the times of the records that were read

    std::vector<Event> events_ = std::vector<Event>(64); ///< made of the group
    std::span<const Event> to_come_;                     ///< those of them that nobody was given
    trace::ModuleMarks module_marks_;                    ///< would tell of code
    trace::MarkerTexts own_markers_;
    std::optional<trace::Marker> marker_; ///< that ends with this record
    std::function<void()> forget_;
    bool ended_ = false;
};

} // namespace mmioscope::reading
