// The accesses of each device and CPU in the course of time.
#pragma once

#include "reading/drive.hpp"
#include "report/time_buckets.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::report {

/// The accesses of a lane in one bucket.
struct Accesses {
    std::uint64_t begin = 0;   ///< ns; of the first
    std::uint64_t end = 0;     ///< ns; of the last
    std::uint64_t event = 0;   ///< number of the one that took longest
    std::uint64_t ticks = 0;   ///< that all took
    std::uint32_t longest = 0; ///< ticks
    std::uint32_t reads = 0;
    std::uint32_t writes = 0;

    void add(const Accesses& next);
};

/// What the timeline shows between the accesses.
struct Mark {
    std::uint64_t nanoseconds = 0;
    std::uint64_t event = 0; ///< its number; 0: none
    std::string text;
};

/// Memory: 15 MiB for lanes, 300 KiB for marks.
class Timeline final : public reading::Consumer {
public:
    static constexpr std::size_t most_lanes = 256;
    static constexpr std::size_t most_cells = 150'000; ///< of all lanes
    static constexpr std::size_t most_marks = 256;

    struct Lane {
        std::string device;
        unsigned cpu = 0;
        TimeBuckets<Accesses> buckets;
    };

    void add(const Event& event) override;

    /// By device, then by CPU.
    std::vector<const Lane*> lanes() const;
    /// Accesses of devices and CPUs that came when there was no lane left.
    std::uint64_t left_out() const { return left_out_; }
    /// Markers and losses, the first most_marks.
    const std::vector<Mark>& marks() const { return marks_; }
    /// Numbers of the accesses that took longest, one of a bucket at most, the longest first.
    std::vector<std::uint64_t> slowest(std::size_t most) const;

private:
    void mark(const Event& event, std::string text);

    std::map<std::pair<std::uint16_t, std::uint8_t>, Lane> lanes_; ///< by Record::device and CPU
    SharedRoom<Accesses> room_{most_cells};
    std::vector<Mark> marks_;
    std::uint64_t left_out_ = 0;
};

} // namespace mmioscope::report
