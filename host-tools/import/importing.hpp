// Shared by all imports: the result of each line of a log, and the records that make a trace file.
#pragma once

#include "file/file_writer.hpp"
#include "records/losses.hpp"
#include "system/byte_source.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::importing {

/// The unusable lines of a log.
struct Malformed {
    void add(std::uint64_t line, std::string_view why);

    std::uint64_t count = 0;
    std::vector<std::string> first; ///< "line 12: why", for the first few
};

/// The result of an import.
struct Report {
    std::uint64_t accesses = 0;
    std::uint64_t lost = 0;
    Malformed malformed;
    std::vector<std::string> notes;   ///< one line each
    std::vector<std::string> missing; ///< what the trace lacks of the log, or the log of what was

    /// Why the trace is incomplete: its malformed lines and what is `missing`, as part of a
    /// sentence; empty if there is no reason.
    std::string incomplete() const;
};

/// Writes a trace file whose records come from elsewhere, and numbers these.
class TraceMaker {
public:
    /// Writes the head. `frequency` is 0 if the log has no times. `text`: keys and values on the
    /// trace's origin.
    TraceMaker(int fd, std::uint32_t frequency, std::uint32_t cpus, std::string_view board,
               const std::vector<abi::RegionEntry>& regions, const std::string& text);

    /// Adds a record, complete except for the numbers. Times must not go back.
    void add(abi::Record record);
    /// Adds a marker, split into records as the hypervisor would.
    void mark(std::uint64_t time, std::string_view text);
    /// Records `count` lost records of `cpu`.
    void lose(unsigned cpu, std::uint64_t time, std::uint64_t count);
    /// `incomplete`: why it is, although no record is known to be lost; empty: it is not.
    void finish(const std::string& incomplete);

private:
    void put(abi::Record record);

    trace::WriteProgress progress_;
    trace::FileWriter writer_;
    std::map<unsigned, std::uint32_t> sequence_;   ///< by CPU
    std::map<std::uint16_t, std::uint32_t> order_; ///< by region
    trace::LossCounter losses_;
    std::uint16_t marker_id_ = 0;
};

/// Makes a region. A path that is too long is cut at the front, with "~" for the rest.
abi::RegionEntry make_region(std::uint64_t base, std::uint64_t size, const std::string& path);

/// log2 of an access's size in bytes; -1 if it is not one of 1, 2, 4 ... 64.
int log2_size(std::uint64_t size);

// The list of log formats that can become a trace.

struct Format {
    std::string_view name; ///< as --as takes it
    std::string_view help; ///< one line: what it is
    /// Writes the trace to `fd`. `first` and `second` provide the same log, each from its start,
    /// for formats that need two passes. Throws Error (bad_input) if the log has nothing usable.
    Report (*import)(ByteSource& first, ByteSource& second, int fd);
};

/// All formats, in the order of --help.
std::span<const Format> formats();

/// Throws Error (bad_input) if no format has this name.
const Format& format_of(std::string_view name);

} // namespace mmioscope::importing
