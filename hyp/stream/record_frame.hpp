// A frame of records that is being put together (abi/wire.hpp, `records`).
#pragma once

#include "abi/record_codec.hpp"
#include "abi/wire.hpp"

namespace mmioscope {

class RecordFrame {
public:
    /// Begins a frame in `bytes`, of which abi::max_frame are there.
    void open(std::uint8_t* bytes, abi::FrameHeader header, unsigned time_shift);

    bool is_open() const { return bytes_ != nullptr; }
    unsigned count() const { return count_; }

    /// Takes a record. False: the frame is full now, close it.
    bool add(const abi::Record& record);

    /// Ends it. Returns its size, header and payload.
    std::size_t close();

private:
    std::uint8_t* bytes_{};
    unsigned count_{};
    unsigned time_shift_{};
    abi::Encoder encoder_;
    abi::RecordModel model_{};
};

} // namespace mmioscope
