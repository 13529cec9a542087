// Reads a trace for commands: the description of the recording, then one block of records after
// another.
#pragma once

#include "file/console_text.hpp"
#include "file/file_reader.hpp"
#include "file/route.hpp"
#include "file/texts.hpp"
#include "pack/unpacker.hpp"
#include "records/callers.hpp"
#include "records/learnt.hpp"
#include "tree/device_names.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::trace {

class TraceReader;

/// The file that another one goes on in (record --rotate).
struct NextPart {
    std::string path;
    std::unique_ptr<ByteSource> source; ///< null: it cannot be read
    std::string problem;                ///< why; empty: nobody wants it
};
/// Gives the one behind the file that the reader has come to the end of.
using NextParts = std::function<NextPart(const TraceReader&)>;

class TraceReader {
public:
    using Report = FileReader::Report;
    /// Told of each section that is read, but of records.
    using Others = std::function<void(const Section&)>;

    /// Reads up to the first records, in constant memory. `report` is told of damage.
    /// Throws Error (bad_input) if this is no trace.
    TraceReader(ByteSource& source, const Report& report, Others others = {});

    /// From now on next() need not give other records, but for those that are needed to know what
    /// tasks and modules are called, and of a source that can seek it does not read what it need
    /// not: but all sections that are no records.
    void select(const Wanted& wanted);

    /// A place between two sections, and what was learnt in front of it.
    struct Place {
        std::shared_ptr<ByteSource> part; ///< the file that is read; null: the first one
        std::string path;                 ///< of that; empty: the first file's
        NextParts next_part;
        unsigned parts = 1;
        std::uint64_t offset = 0;      ///< of the next section
        bool in_head = true;           ///< only what a file begins with is in front of it
        std::uint64_t file_begins = 0; ///< records in front of the file
        std::uint64_t in_front = 0;    ///< and of the place
        abi::End before{};             ///< the counts of the files before this one
        std::size_t losses_before = 0; ///< and how many losses are of them
        Learnt learnt;
    };
    /// Where the next section is read, if nothing in front of it waits for next(): right behind
    /// records. Null: elsewhere, or the source cannot seek.
    std::optional<Place> place() const;
    /// In front of all sections.
    Place beginning() const;
    /// Goes back there, as if nothing had been read behind it. What tells of the whole trace is not
    /// told a second time. To be called in front of select().
    void go_to(const Place& place);

    /// Where a file ends with "goes on in the next file", that one is read behind it: its records,
    /// its losses, its end, as if they were of the first. Of a file without an end, too, which is
    /// damage then. Reads up to the first records, if the first file has none. To be called before
    /// select() and next().
    void go_on_with(NextParts next);

    /// Whether somebody may want one of a block of records, of which only what `columns` has is to
    /// be looked at.
    struct Skim {
        pack::ColumnSet columns;
        std::function<bool(std::span<const abi::Record>)> may_be_wanted;
    };
    /// Packed records that nobody wants, and that tell nothing of others, are left out from now on:
    /// only these columns of them are unpacked. Numbers are what they are.
    void skim(Skim skim) { skim_ = std::move(skim); }

    /// What the text `key` says is for nobody, from now on.
    void withhold(const std::string& key);

    /// The next block of records, in the order of time; empty at the end.
    std::span<const abi::Record> next();
    /// The number of its first record in the trace, from 1 on: those in damaged sections have
    /// theirs, as far as their headers tell.
    std::uint64_t first_number() const { return at_.in_front - records_.size() + 1; }

    /// Records up to the end of the section that was read last, which next() may not have returned.
    std::uint64_t records_read() const { return at_.in_front; }
    std::uint64_t latest() const { return latest_; } ///< of the block's times
    /// Some of its records tell something of others (file/index.hpp).
    bool teaches() const { return teaches_; }

    /// What the recorder wrote in front of the records; nothing where that part is damaged.
    const std::optional<abi::Info>& info() const { return info_; }
    /// Whether what is called `what` in the text `not-known` means something in this trace.
    bool knows(std::string_view what) const { return !not_known_.has(what); }
    // Of info() and end(): nothing, too, where the trace says that it does not know.
    std::optional<abi::EngineKind> engine() const;
    std::optional<abi::Policy> policy() const;
    std::optional<abi::Ending> ending() const;
    std::span<const std::uint8_t> boot_id() const; ///< empty: not known
    std::span<const abi::RegionEntry> regions() const { return *at_.learnt.regions; }
    const tree::DeviceNames& names() const;
    /// The board's device tree.
    std::span<const std::byte> tree() const { return *at_.learnt.tree; }
    const std::map<std::string, std::string>& text() const { return text_; }
    /// The section of symbols, as it is in the file; null if it has none.
    const std::shared_ptr<const std::vector<std::byte>>& symbols() const { return symbols_; }
    /// How many sections of each type have been read so far.
    const std::map<abi::SectionType, unsigned>& sections() const { return sections_; }
    FileVersion version() const { return file_->version(); } ///< of the format; 0.0: damaged
    unsigned parts() const { return at_.parts; } ///< files read so far, the first one included
    /// Why the file that this goes on in was not read; empty: it was, or there is none, or nobody
    /// asked for it.
    const std::string& missing_part() const { return missing_part_; }

    /// Grows with each section that was read, so whenever something of all this may be another.
    std::uint64_t changes() const { return changes_; }
    /// Likewise whenever devices may have other names.
    std::uint64_t device_changes() const { return device_changes_; }

    /// Those of all records returned so far.
    const TaskTable& tasks() const { return at_.learnt.tasks; }
    /// CNTPCT of the first record that could be read, of whatever time the wanted ones are; of a
    /// part, what its times are since.
    const std::optional<std::uint64_t>& start() const { return start_; }
    /// Those of the sections read so far, and those that markers of all records returned tell of.
    const ModuleTable& modules() const { return at_.learnt.modules; }
    /// One for each record of the block that next() returned last, or none: LR holds for all.
    std::span<const Caller> callers() const { return callers_; }
    /// The one of the record of this number; of one of another block LR holds.
    Caller caller_of(std::uint64_t number) const {
        const std::uint64_t at = number - first_number();
        return at < callers_.size() ? callers_[at] : lr_holds;
    }
    const ConsoleText& console() const { return console_; } ///< what has been read so far

    // Complete only after next() has returned an empty block.
    std::span<const abi::Loss> losses() const { return losses_; }
    std::span<const abi::Statistics> statistics() const { return statistics_; }
    const std::optional<abi::End>& end() const { return end_; } ///< nothing: the file was cut
    bool damaged() const { return damaged_; }
    /// Neither damaged nor cut, and with as many records as its end tells, unless only some were to
    /// be read.
    bool sound() const;
    /// Only a range of time is read: what is in front of it is not missing.
    bool partial() const { return partial_ || part(); }
    /// The file is a part of another one: numbers that are not there tell nothing (exported.hpp).
    bool part() const { return exported_since(text_).has_value(); }

private:
    Report report_of(const std::string& path);
    void read_head();
    bool go_on();
    void find_route();
    void open_part();
    bool read_before() const;
    bool repeats_head(abi::SectionType type);
    bool read_section();
    void take(const Section& section);
    void take_of_guest(abi::SectionType type, std::span<const std::byte> payload);
    void take_records(const Section& section);
    void take_packed(std::span<const std::byte> payload);
    bool leaves_out();
    void learn(std::span<const abi::Record> records);
    void read_text(std::span<const std::byte> payload);

    void read_end(std::span<const std::byte> payload);
    std::optional<Section> next_section();

    bool damaged_ = false;
    bool partial_ = false;
    Report report_;
    ByteSource& first_;  ///< the caller's
    Place at_;           ///< of what is read next, but for its offset
    ByteSource* source_; ///< the one that is read
    std::optional<FileReader> file_;
    Others others_;
    NextParts first_next_; ///< the first file's, as it was before it was asked
    std::string missing_part_;
    std::optional<Wanted> wanted_;
    std::optional<FileIndex> index_; ///< of the file that is read, once it was needed
    std::optional<Route> route_;     ///< nothing: everything is read
    std::optional<abi::Info> info_;
    std::optional<abi::End> end_; ///< its counts are those of all files read
    std::shared_ptr<const std::vector<std::byte>> symbols_;
    std::span<const abi::Record> records_; ///< where they were read to, or unpacked
    pack::Unpacker unpacker_;
    Skim skim_;                         ///< null: nothing is left out
    std::uint64_t left_out_latest_ = 0; ///< of the times since the last block
    std::vector<abi::Loss> losses_;
    std::vector<abi::Statistics> statistics_;
    std::map<std::string, std::string> text_;
    std::set<std::string> withheld_; ///< keys of text
    NotKnown not_known_;
    std::map<abi::SectionType, unsigned> sections_;
    mutable tree::DeviceNames names_;
    mutable bool names_stale_ = false;         ///< regions or the tree are newer
    std::span<const Caller> callers_;          ///< in callers_memory_, or unpacked
    std::span<const std::byte> callers_ahead_; ///< a section, of records that are still to be read
    PayloadMemory callers_memory_;
    ConsoleText console_;
    std::uint64_t latest_ = 0;        ///< of the times of records_
    bool teaches_ = false;            ///< some of these do
    std::uint64_t first_section_ = 0; ///< where the first file's is
    std::uint64_t count_ = 0;         ///< of records returned
    unsigned furthest_part_ = 1;      ///< the furthest that was read: the end of a section
    std::uint64_t furthest_ = 0;
    std::uint64_t changes_ = 1;
    std::uint64_t device_changes_ = 1;
    std::optional<std::uint64_t> start_;
    bool fresh_ = false; ///< records_ holds a block that next() has not returned yet
};

/// Tells of damage on standard error, a line each, with `path` in front.
TraceReader::Report tell_of(const std::string& path);

/// Reads `source` up to the first records. Throws Error (bad_input) that names `path` if it is no
/// trace.
std::unique_ptr<TraceReader> read_trace(ByteSource& source, const std::string& path,
                                        const TraceReader::Report& report,
                                        const TraceReader::Others& others = {});

} // namespace mmioscope::trace
