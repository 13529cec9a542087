// Sends what was kept of the previous boot (abi/wire.hpp): its description, its last records, and
// what its CPUs were doing, in this order; then the description and the last once more.
#pragma once

#include "stream/description.hpp"
#include "stream/ring_merge.hpp"

#include <atomic>

namespace mmioscope {

class KeptBoot {
public:
    /// `area` is intact, and does not change until busy() is false.
    void start(const abi::AreaHeader& area, unsigned time_shift);

    /// Whether something remains to be sent. Any CPU may call it.
    bool busy() const { return stage() != Stage::over; }

    /// Whether a frame other than one of records is next. Its type is type(); write_frame() writes
    /// its payload and returns the size in bytes.
    bool has_frame() const { return busy() && !has_records(); }
    abi::FrameType type() const;
    std::size_t write_frame(std::uint8_t* to);

    /// Whether records are next.
    bool has_records() const { return stage() == Stage::records; }
    bool next(abi::Record& out);

private:
    enum class Stage : std::uint32_t { over, description, records, end };

    Stage stage() const { return stage_.load(std::memory_order_relaxed); }
    void advance(Stage to) { stage_.store(to, std::memory_order_relaxed); }
    std::size_t write_end(std::uint8_t* to) const;

    abi::AreaState state_{};
    std::atomic<Stage> stage_{Stage::over};
    unsigned piece_{};
    bool again_{}; ///< all was sent once
    DescriptionWriter description_;
    RingMerge merge_;
};

} // namespace mmioscope
