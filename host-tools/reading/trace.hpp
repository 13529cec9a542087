// A trace opened for reading, from a path or standard input: its head, then one event after
// another.
#pragma once

#include "filter/filter.hpp"
#include "reading/checkpoints.hpp"
#include "reading/naming.hpp"
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

/// A time that the user gives.
struct Moment {
    Moment(std::uint64_t since) : nanoseconds(since) {} // NOLINT: what most callers have
    Moment(std::uint64_t since, bool counter) : nanoseconds(since), of_counter(counter) {}
    explicit Moment(std::string name) : mark(std::move(name)) {}

    std::uint64_t nanoseconds = 0; ///< since the trace's first record
    bool of_counter = false;       ///< since the machine's counter was 0 instead
    std::string mark;              ///< when this mark was set instead; empty: none
};

struct TraceOptions {
    std::string path = "-";             ///< "-": standard input
    bool one_file = false;              ///< do not read the files after it (file/part_files.hpp)
    std::optional<Moment> from, to;     ///< `to` is excluded
    std::optional<std::uint64_t> start; ///< CNTPCT at time 0; empty: the first record's
    std::optional<trace::NumberSpan> numbers; ///< of events (Event::number)
    std::vector<unsigned> cpus;               ///< their events, and all markers; empty: all CPUs
    std::string filter;        ///< only events that match (filter/parser.hpp); empty: all
    filter::Settings settings; ///< of `filter`
    /// Files with better names for the guest's code than the trace has (symbols/symbol_files.hpp).
    std::vector<std::string> symbols;
    std::vector<std::string> registers; ///< files, as RegisterBook::add_file() takes them
    std::string tree;   ///< a device tree blob, for a trace without one; empty: none
    bool no_pc = false; ///< leave out where the guest's code is (strip_code.hpp)
    /// For a file that is being written: called every 100 ms at the end of the file; false ends the
    /// reading. Null: reading ends at the end of the file.
    std::function<bool()> wait;
    /// Called now and then while no event is found; true makes next() return nothing, as if the
    /// trace ended there. The next call goes on. May be null.
    std::function<bool()> stop;
    /// Called with each section that is read, except records. May be null.
    trace::TraceReader::Others sections;
    /// Texts of markers that began in the trace before this one; then those that this trace leaves
    /// open. Null: none.
    trace::MarkerTexts* markers = nullptr;
    /// Called with one line for each damaged part. Null: prints it on standard error.
    std::function<void(const std::string&)> report;
};

/// Whether the options select only some of the trace's events.
inline bool selects(const TraceOptions& options) {
    return options.from || options.to || options.numbers || !options.cpus.empty() ||
           !options.filter.empty();
}

/// Checks the options before a trace is opened. Throws Error (bad_input).
void check(const TraceOptions& options);

/// Throws Error (bad_input) if a machine with `count` CPUs lacks one of `cpus`.
void check_cpus(std::span<const unsigned> cpus, unsigned count);

class Trace {
public:
    /// Reads up to the first record. Decompresses zstd. For a range of time it reads only what it
    /// needs, if the file can seek. Throws Error (bad_input) if this is not a trace, or lacks one
    /// of the CPUs. A device that the filter names and the trace lacks is reported like damage.
    explicit Trace(const TraceOptions& options);

    /// Reads `source`, which must outlive this object; the path is its name in messages.
    Trace(const TraceOptions& options, ByteSource& source);
    Trace(const Trace&) = delete; // others know where it is
    Trace& operator=(const Trace&) = delete;

    /// The next event in the order of time; null at the end. The event and its names, except those
    /// of registers, are valid until the next call.
    const Event* next();
    /// The next events, at least one, at most `most` and 64; none at the end.
    std::span<const Event> next_events(std::uint64_t most = UINT64_MAX);

    /// Continues with the event of this number, or the first selected one after it. The event is
    /// the same as if the trace had been read up to there. Earlier ids become invalid, as
    /// on_forget() would say. Throws Error (bad_input) if the file cannot seek.
    void seek_number(std::uint64_t number);
    /// Continues with the first event at this time or later; else as seek_number().
    void seek_time(std::uint64_t nanoseconds);

    /// `tell` is called, within next(), before ids become invalid (Names). May be null.
    void on_forget(std::function<void()> tell) { forget_ = std::move(tell); }

    /// The selected markers whose text has not ended, valid as long as the event. Empty if
    /// TraceOptions::markers was given.
    std::vector<Event> unended();

    /// Whether code addresses are left out; callers must not print any from other parts either.
    bool no_pc() const { return options_.no_pc; }
    /// The options as given, except that all times are since the trace's first record.
    const TraceOptions& options() const { return options_; }

    /// The head, and after the last event the losses and the end.
    const trace::TraceReader& reader() const { return *reader_; }
    Naming& naming() { return *naming_; }
    /// CNTPCT of the latest record read, wanted or not.
    std::uint64_t latest() const { return latest_; }

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
    std::uint64_t pieces() const;
    trace::MarkerTexts& markers() {
        return options_.markers != nullptr ? *options_.markers : own_markers_;
    }
    bool may_hold_any(std::span<const abi::Record> records);
    std::uint64_t may_hold(std::uint64_t of) const;
    std::uint64_t without_refused(std::uint64_t of) const;
    void pass_to(std::size_t end);
    std::size_t fill_passed();
    void select();
    bool stops();
    void end();

    TraceOptions options_;
    std::unique_ptr<filter::Filter> filter_; ///< made first, to report an error in it before others
    std::uint64_t bound_ = 0;                ///< device_changes() when the filter was bound
    bool told_unknown_ = false;              ///< reported what the filter names and the trace lacks
    trace::TraceReader::Report report_;
    std::unique_ptr<ByteSource> own_; ///< null: the source belongs to the caller
    ByteSource& source_;
    std::unique_ptr<trace::TraceReader> reader_;
    std::unique_ptr<Naming> naming_;
    std::span<const abi::Record> section_; ///< rest of the last section
    std::span<const abi::Record> block_;   ///< at most Naming::most_in_block records of it
    std::span<const abi::Record> group_;   ///< at most 64 records before block_
    std::uint64_t left_ = 0;               ///< bits of the records in group_ still to come
    std::uint64_t hidden_ = 0;             ///< bits of those to hide
    std::size_t passed_ = 0;               ///< number of records in group_ that were passed
    bool pass_all_ = false;                ///< pass every record: it may have an effect
    std::uint64_t number_ = 0;             ///< of the record before group_
    std::bitset<256> cpus_;                ///< the wanted CPUs
    trace::Wanted wanted_;                 ///< by the options
    trace::Wanted to_give_;                ///< the part of wanted_ after the last seek
    bool all_ = false;                     ///< all CPUs, times and numbers are wanted
    Checkpoints checkpoints_;
    std::uint64_t latest_ = 0; ///< latest time read

    std::vector<Event> events_ = std::vector<Event>(64); ///< made from group_
    std::span<const Event> to_come_;                     ///< those not returned yet
    trace::ModuleMarks module_marks_;                    ///< to hide code addresses
    trace::MarkerTexts own_markers_;
    std::optional<trace::Marker> marker_; ///< ends with this record
    std::function<void()> forget_;
    bool ended_ = false; ///< once
    bool over_ = false;  ///< since the last seek: a file that grows may have more by now
    bool stop_ = false;  ///< TraceOptions::stop said so
    unsigned groups_ = 0;
};

} // namespace mmioscope::reading
