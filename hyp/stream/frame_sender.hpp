// Puts one frame on a line, a few bytes at a time: COBS and CRC (abi/wire.hpp).
#pragma once

#include "abi/wire.hpp"
#include "dev/line.hpp"

namespace mmioscope {

class FrameSender {
public:
    /// Takes `size` bytes at `frame`, header and payload, behind which four more are free. They
    /// are the sender's until done().
    void start(std::uint8_t* frame, std::size_t size);

    bool done() const { return part_ == Part::none; }

    /// Sends at most `budget` bytes, fewer if the line has no room. Looks at no more than 254 bytes
    /// of the frame for each piece that it begins. Returns how many were sent.
    unsigned pump(Line& line, unsigned budget);

private:
    enum class Part : std::uint8_t { none, length, run, end };

    void find_run();
    std::uint8_t next_byte() const;
    void advance();
    void add_crc();
    void cover(std::size_t end);

    std::uint8_t* frame_{};
    std::size_t size_{};    ///< with the CRC
    std::size_t at_{};      ///< the run's next byte
    std::size_t run_end_{}; ///< behind its last one
    bool zero_behind_{};    ///< the run ends at a zero of the frame
    std::uint32_t crc_{};
    std::size_t covered_{}; ///< bytes that the CRC covers so far
    Part part_{Part::none};
};

} // namespace mmioscope
