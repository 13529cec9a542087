// Shared by all imports: the result of each line of a log, and the records that make a trace file.
#pragma once

#include "file/file_writer.hpp"
#include "records/losses.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::importing {

/// The lines that could not be used.
struct Malformed {
    void add(std::uint64_t line, std::string_view why);

    std::uint64_t count = 0;
    std::vector<std::string> first; ///< "line 12: why", of the first few
};

/// What there is to tell of an import.
struct Report {
    std::uint64_t accesses = 0;
    std::uint64_t lost = 0;
    Malformed malformed;
    std::vector<std::string> notes; ///< a line each
};

/// A trace file whose records come from elsewhere: gives them their numbers.
class TraceMaker {
public:
    /// Writes the head. `frequency`: 0 if the log has no times. `text`: keys and values of where it
    /// came from.
    TraceMaker(int fd, std::uint32_t frequency, std::uint32_t cpus, std::string_view board,
               const std::vector<abi::RegionEntry>& regions, const std::string& text);

    /// An access, or anything else: all but the numbers is set. Times must not go back.
    void add(abi::Record record);
    /// A marker, in pieces as the hypervisor would write it.
    void mark(std::uint64_t time, std::string_view text);
    /// Records of `cpu` are missing.
    void lose(unsigned cpu, std::uint64_t time, std::uint64_t count);
    void finish();

private:
    void put(abi::Record record);

    trace::WriteProgress progress_;
    trace::FileWriter writer_;
    std::map<unsigned, std::uint32_t> sequence_;   ///< by CPU
    std::map<std::uint16_t, std::uint32_t> order_; ///< by region
    trace::LossCounter losses_;
    std::uint16_t marker_id_ = 0;
};

/// A region; a path that is too long keeps its end behind "~".
abi::RegionEntry make_region(std::uint64_t base, std::uint64_t size, const std::string& path);

/// log2 of an access's size in bytes; -1 if it is none of 1, 2, 4 ... 64.
int log2_size(std::uint64_t size);

} // namespace mmioscope::importing
