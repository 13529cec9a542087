// Reads a trace for commands: the description of the recording, then one block of records after
// another.
#pragma once

#include "file/console_text.hpp"
#include "file/file_reader.hpp"
#include "file/packer.hpp"
#include "file/route.hpp"
#include "file/texts.hpp"
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

/// The file in which another one goes on (record --rotate).
struct NextPart {
    std::string path;
    std::unique_ptr<ByteSource> source; ///< null: it cannot be read
    std::string problem;                ///< why; empty: not wanted
};
/// Gives the file after the one that the reader has finished.
using NextParts = std::function<NextPart(const TraceReader&)>;

class TraceReader {
public:
    using Report = FileReader::Report;
    /// Called with each section that is read, except records.
    using Others = std::function<void(const Section&)>;

    /// Reads up to the first records, in constant memory. Calls `report` for damage. Throws Error
    /// (bad_input) if this is not a trace.
    TraceReader(ByteSource& source, const Report& report, Others others = {});

    /// From now on next() may leave out records that are not `wanted`, except those that name tasks
    /// and modules. If the source can seek, parts without needed records or other sections are not
    /// read.
    void select(const Wanted& wanted);

    /// A position between two sections, and what was learnt before it.
    struct Place {
        std::shared_ptr<ByteSource> part; ///< the current file; null: the first one
        std::string path;                 ///< of that file; empty: the first file's
        NextParts next_part;
        unsigned parts = 1;
        std::uint64_t offset = 0;      ///< of the next section
        bool in_head = true;           ///< only the start of a file is before it
        std::uint64_t file_begins = 0; ///< number of records before the file
        std::uint64_t in_front = 0;    ///< number of records before this place
        abi::End before{};             ///< the counts of the files before this one
        std::size_t losses_before = 0; ///< number of losses in these files
        Learnt learnt;
    };
    /// The position of the next section, if it is right after records that next() has returned.
    /// Nothing at other positions, or if the source cannot seek.
    std::optional<Place> place() const;
    /// The position before all sections, where the devices are known that are now: call it at the
    /// first records.
    Place beginning() const;
    /// Goes back there, as if nothing after it had been read. Does not report facts about the whole
    /// trace again. Call it before select().
    void go_to(const Place& place);

    /// When a file ends with "goes on in the next file", continues with that file: its records,
    /// losses and end, as if they were in the first. Does so, too, if a file has no end, and
    /// reports that as damage. Reads up to the first records if the first file has none. Call it
    /// before select() and next().
    void go_on_with(NextParts next);

    /// Whether somebody may want a record of a block; it looks at these `columns` only.
    struct Skim {
        trace::ColumnSet columns;
        std::function<bool(std::span<const abi::Record>)> may_be_wanted;
    };
    /// From now on leaves out packed records that nobody wants and that say nothing about others:
    /// unpacks only these columns of them. Record numbers do not change.
    void skim(Skim skim) { skim_ = std::move(skim); }

    /// Hides the text `key` from now on.
    void withhold(const std::string& key);

    /// The next block of records, in the order of time; empty at the end.
    std::span<const abi::Record> next();
    /// The number of the block's first record in the trace, from 1. It counts records in damaged
    /// sections, as far as their headers tell.
    std::uint64_t first_number() const { return at_.in_front - records_.size() + 1; }

    /// The number of records up to the end of the last section read; next() may not have returned
    /// them all.
    std::uint64_t records_read() const { return at_.in_front; }
    /// The latest time of the block, and of what was left out since.
    std::uint64_t latest() const { return std::max(latest_, left_out_latest_); }
    /// Whether some of its records say something about others (file/index.hpp).
    bool teaches() const { return teaches_; }
    /// The block, as next() has returned it, and whether some of its records are payloads.
    std::span<const abi::Record> records() const { return records_; }
    bool groups() const { return groups_; }

    /// What the recorder wrote before the records; nothing if that part is damaged.
    const std::optional<abi::Info>& info() const { return info_; }
    /// Whether `what`, a name in the text `not-known`, is meaningful in this trace.
    bool knows(std::string_view what) const { return !not_known_.has(what); }
    // From info() and end(); also nothing if the trace says that it does not know.
    std::optional<abi::EngineKind> engine() const;
    std::optional<abi::Policy> policy() const;
    std::optional<abi::Ending> ending() const;
    std::span<const std::uint8_t> boot_id() const; ///< empty: not known
    std::span<const abi::RegionEntry> regions() const { return *at_.learnt.regions; }
    const tree::DeviceNames& names() const;
    /// The board's device tree.
    std::span<const std::byte> tree() const { return *at_.learnt.tree; }
    const std::map<std::string, std::string>& text() const { return text_; }
    /// The section of symbols, as in the file; null if it has none.
    const std::shared_ptr<const std::vector<std::byte>>& symbols() const { return symbols_; }
    /// Likewise, of the kernel's frames.
    const std::shared_ptr<const std::vector<std::byte>>& frames() const { return frames_; }
    /// What was lost, according to the losses and the text.
    Lost lost() const;
    /// The number of sections of each type read so far.
    const std::map<abi::SectionType, unsigned>& sections() const { return sections_; }
    FileVersion version() const { return file_->version(); } ///< of the format; 0.0: damaged
    unsigned parts() const { return at_.parts; } ///< files read so far, the first one included
    /// Why the next file was not read. Empty: it was, or there is none, or go_on_with() was not
    /// called.
    const std::string& missing_part() const { return missing_part_; }

    /// Grows with each section read, that is, whenever any of these may have changed.
    std::uint64_t changes() const { return changes_; }
    /// Grows whenever devices' names may have changed.
    std::uint64_t device_changes() const { return device_changes_; }

    /// Whether the files that were read for some records only (select()) may have records of type
    /// `begin`, read or not.
    bool may_begin() const { return may_begin_; }
    /// From all records returned so far.
    const TaskTable& tasks() const { return at_.learnt.tasks; }
    /// CNTPCT of the first readable record, even if it is not wanted; for an exported part, CNTPCT
    /// at time 0.
    const std::optional<std::uint64_t>& start() const { return start_; }
    /// From the sections read so far, and from the markers of all records returned.
    const ModuleTable& modules() const { return at_.learnt.modules; }
    /// One for each record of the last block, or none: then LR is the caller for all.
    std::span<const Caller> callers() const { return callers_; }
    /// The caller of the record with this number; LR if it is not in the last block.
    Caller caller_of(std::uint64_t number) const {
        const std::uint64_t at = number - first_number();
        return at < callers_.size() ? callers_[at] : lr_holds;
    }
    const ConsoleText& console() const { return console_; } ///< as far as it was read

    // Complete only after next() has returned an empty block.
    std::span<const abi::Loss> losses() const { return losses_; }
    std::span<const abi::Statistics> statistics() const { return statistics_; }
    const std::optional<abi::End>& end() const { return end_; } ///< nothing: the file is cut off
    bool damaged() const { return damaged_; }
    /// Not damaged or cut off, and with as many records as its end says, unless only some were
    /// read.
    bool sound() const;
    /// Only a range of time is read: records before it are not missing.
    bool partial() const { return partial_ || part(); }
    /// The file is a part of another trace: gaps in the numbers are not losses (texts.hpp).
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
    void read(const Section& section);
    void read_of_guest(abi::SectionType type, std::span<const std::byte> payload);
    void read_records(const Section& section);
    void read_packed(std::span<const std::byte> payload);
    bool leaves_out();
    void learn(std::span<const abi::Record> records);
    void read_text(std::span<const std::byte> payload);

    void read_end(std::span<const std::byte> payload);
    std::optional<Section> next_section();

    bool damaged_ = false;
    bool partial_ = false;
    Report report_;
    ByteSource& first_;  ///< owned by the caller
    Place at_;           ///< of the next read, except its offset
    ByteSource* source_; ///< the current one
    std::optional<FileReader> file_;
    Others others_;
    NextParts first_next_; ///< as the first file had it
    std::string missing_part_;
    std::optional<Wanted> wanted_;
    std::optional<FileIndex> index_; ///< of the current file, once needed
    std::optional<Route> route_;     ///< nothing: read everything
    bool may_begin_ = false;         ///< some index says so, or is missing
    std::optional<abi::Info> info_;
    std::optional<abi::End> end_; ///< counts are those of all files read
    std::shared_ptr<const std::vector<std::byte>> symbols_, frames_;
    std::span<const abi::Record> records_; ///< in the section's memory, or unpacked
    trace::Unpacker unpacker_;
    Skim skim_;                         ///< null: leave out nothing
    std::uint64_t left_out_latest_ = 0; ///< latest time left out since the last block
    std::vector<abi::Loss> losses_;
    std::vector<abi::Statistics> statistics_;
    std::map<std::string, std::string> text_;
    std::set<std::string> withheld_; ///< keys of text
    static constexpr std::size_t most_text_lines = 1u << 16;
    std::uint64_t text_bytes_ = 0; ///< of all lines; what is beyond max_payload is ignored
    NotKnown not_known_;
    std::map<abi::SectionType, unsigned> sections_;
    mutable tree::DeviceNames names_;
    mutable bool names_stale_ = false; ///< the regions or the tree are newer
    std::span<const Caller> callers_;  ///< in the file's memory, or unpacked
    ConsoleText console_;
    std::uint64_t latest_ = 0;        ///< latest time of records_
    bool teaches_ = false;            ///< some records of records_ do
    bool groups_ = false;             ///< some of them are payloads
    std::uint64_t first_section_ = 0; ///< in the first file
    std::uint64_t count_ = 0;         ///< number of records returned
    unsigned furthest_part_ = 1;      ///< the furthest position read: the end of a section
    std::uint64_t furthest_ = 0;
    std::uint64_t changes_ = 1;
    std::uint64_t device_changes_ = 1;
    std::optional<std::uint64_t> start_;
    bool fresh_ = false; ///< next() has not returned records_ yet
};

/// Reports damage on standard error, one line each, prefixed by `path`.
TraceReader::Report report_of(const std::string& path);

/// Reads `source` up to the first records. Throws Error (bad_input) that names `path` if it is not
/// a trace.
std::unique_ptr<TraceReader> read_trace(ByteSource& source, const std::string& path,
                                        const TraceReader::Report& report,
                                        const TraceReader::Others& others = {});

} // namespace mmioscope::trace
