// Merges the rings of a running hypervisor into one stream in the order of time, and writes it.
#pragma once

#include "file/file_writer.hpp"
#include "records/losses.hpp"
#include "records/returns.hpp"
#include "records/summary.hpp"
#include "rings/area.hpp"
#include "rings/merge.hpp"

#include <span>
#include <vector>

namespace mmioscope::rings {

/// Sees records before they are written, and may write sections that precede them.
class Onlooker {
public:
    virtual ~Onlooker() = default;

    /// The records are in the order of time, and go into one section of the file. `runs` are the
    /// runs in them, each of one task.
    virtual void see(std::span<const abi::Record> records, std::span<const trace::Run> runs,
                     trace::FileWriter& file) = 0;
};

class Recorder {
public:
    /// Reads the rings of `area` and writes to `file`. The caller owns both, and `onlooker`, which
    /// may be null.
    Recorder(const Area& area, trace::FileWriter& file, Onlooker* onlooker = nullptr);

    /// One pass over all rings. Returns the number of records taken.
    std::size_t pass();

    /// Writes all collected records to the file.
    void flush() { file_.flush(); }

    /// The machine has stopped: takes the remaining records and the losses, and ends the file.
    void finish(abi::Ending ending);

    const trace::Summary& summary() const { return summary_; }
    const trace::LossCounter& losses() const { return losses_; }
    std::uint64_t damaged() const { return rings_.damaged(); } ///< records whose slot held another
    /// Why the trace is incomplete although no record is known to be lost; empty: no reason.
    std::string doubts() const;

private:
    void deliver(std::size_t before);
    void add(const trace::Run& run, std::span<abi::Record> records);

    const Area& area_;
    trace::FileWriter& file_;
    Onlooker* onlooker_;
    OrderedRings rings_;
    trace::LossCounter losses_;
    trace::Summary summary_;
    trace::Returns returns_;
    std::vector<trace::Run> runs_; ///< for the onlooker
    std::string why_unfinished_;   ///< by accesses in whose middle the machine ended
};

} // namespace mmioscope::rings
