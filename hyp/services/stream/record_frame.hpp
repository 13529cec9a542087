// Builds a frame of records (abi/wire.hpp, `records`).
#pragma once

#include "abi/record_codec.hpp"
#include "abi/wire.hpp"
#include "stream/folder.hpp"

namespace mmioscope {

class RecordFrame {
public:
    /// From now on equal reads are counted as `how` says.
    void fold(abi::Fold how, unsigned time_shift) { folder_.start(how, time_shift); }

    /// Begins a frame in `bytes`, which has room for abi::max_frame.
    void open(std::uint8_t* bytes, abi::FrameHeader header, unsigned time_shift);

    bool is_open() const { return bytes_ != nullptr; }
    unsigned count() const { return count_; }

    /// Adds a record; rounds its times as they are sent. False: the frame is now full, close it.
    bool add(abi::Record& record);

    /// Ends the frame. Returns the size of header and payload in bytes.
    std::size_t close();

private:
    std::uint8_t* bytes_{};
    void code(abi::Record& record);
    void code_counted();

    unsigned count_{}; ///< coded records
    unsigned total_{}; ///< records that these stand for
    unsigned time_shift_{};
    Folder folder_;
    abi::Encoder encoder_;
    abi::RecordModel model_{};
};

} // namespace mmioscope
