// A frame of records that is being put together (abi/wire.hpp, `records`).
#pragma once

#include "abi/record_codec.hpp"
#include "abi/wire.hpp"
#include "stream/folder.hpp"

namespace mmioscope {

class RecordFrame {
public:
    /// Equal reads are counted from now on, as `how` says.
    void fold(abi::Fold how, unsigned time_shift) { folder_.start(how, time_shift); }

    /// Begins a frame in `bytes`, of which abi::max_frame are there.
    void open(std::uint8_t* bytes, abi::FrameHeader header, unsigned time_shift);

    bool is_open() const { return bytes_ != nullptr; }
    unsigned count() const { return count_; }

    /// Takes a record, whose times are rounded as they are sent. False: the frame is full now,
    /// close it.
    bool add(abi::Record& record);

    /// Ends it. Returns its size, header and payload.
    std::size_t close();

private:
    std::uint8_t* bytes_{};
    void code(abi::Record& record);
    void code_counted();

    unsigned count_{}; ///< records as they are coded
    unsigned total_{}; ///< records that they stand for
    unsigned time_shift_{};
    Folder folder_;
    abi::Encoder encoder_;
    abi::RecordModel model_{};
};

} // namespace mmioscope
