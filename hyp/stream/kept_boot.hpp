// What was kept of the previous boot, on its way into the stream (abi/wire.hpp): its description,
// its last records, and what its CPUs were at; each once, in this order.
#pragma once

#include "stream/description.hpp"
#include "stream/ring_merge.hpp"

#include <atomic>

namespace mmioscope {

class KeptBoot {
public:
    /// `area` holds together, and stays as it is until busy() is false.
    void start(const abi::AreaHeader& area, unsigned time_shift);

    /// Something is left to be sent. Any CPU may ask.
    bool busy() const { return stage() != Stage::over; }

    /// A frame that is none of records is next: of this type. write_frame() gives its payload, and
    /// returns its size.
    bool has_frame() const { return busy() && !has_records(); }
    abi::FrameType type() const;
    std::size_t write_frame(std::uint8_t* to);

    /// Records are next.
    bool has_records() const { return stage() == Stage::records; }
    bool next(abi::Record& out);

private:
    enum class Stage : std::uint32_t { over, description, records, end };

    Stage stage() const { return stage_.load(std::memory_order_relaxed); }
    void advance(Stage to) { stage_.store(to, std::memory_order_relaxed); }
    std::size_t write_end(std::uint8_t* to) const;

    const abi::AreaHeader* area_{};
    std::atomic<Stage> stage_{Stage::over};
    unsigned piece_{};
    DescriptionWriter description_;
    RingMerge merge_;
};

} // namespace mmioscope
