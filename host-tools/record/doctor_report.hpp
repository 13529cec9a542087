// Reads what the hypervisor's self-test says on the wire, in place of a stream (abi/doctor.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace mmioscope::record {

class DoctorReport {
public:
    /// The next bytes of the wire, in pieces of any size. Only the first `longest` bytes of a line
    /// count, and the first `most_failed` checks that failed.
    void feed(std::span<const std::byte> bytes);

    /// Whether this is a report: a line of the doctor's has begun, or the hypervisor has stopped.
    bool begun() const;
    /// Whether its last line has come. What follows it does not count.
    bool ended() const { return ended_; }
    bool can_trace() const { return can_trace_ && failed_.empty(); }

    /// The checks that failed, a line for each, with what to do; then one line that says whether
    /// the board can trace, and with which engine. If the report has not ended, that line names the
    /// check that the board did not finish.
    std::string text() const;

private:
    static constexpr std::size_t longest = 1024;
    static constexpr unsigned most_failed = 100; ///< more than there are checks

    void add_line();

    std::string line_;
    std::string check_;  ///< name of the last one
    std::string failed_; ///< lines
    unsigned failed_lines_ = 0;
    std::string verdict_; ///< empty: not yet
    bool begun_ = false;  ///< by a whole line
    bool ended_ = false;
    bool can_trace_ = false;
};

} // namespace mmioscope::record
