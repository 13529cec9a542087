// Sends one frame on a line, a few bytes at a time, with COBS and CRC (abi/wire.hpp).
#pragma once

#include "abi/wire.hpp"
#include "stream/line.hpp"

namespace mmioscope {

class FrameSender {
public:
    /// Starts to send the `size` bytes at `frame`, header and payload; the four bytes after them
    /// must be free for the CRC. The buffer belongs to the sender until done().
    void start(std::uint8_t* frame, std::size_t size);

    bool done() const { return part_ == Part::none; }

    /// Sends at most `budget` bytes, fewer if the line has no room. Reads at most 254 bytes of the
    /// frame for each COBS piece that it begins. Returns the number of bytes sent.
    unsigned pump(Line& line, unsigned budget);

private:
    enum class Part : std::uint8_t { none, length, run, end };

    void find_run();
    std::uint8_t next_byte() const;
    void advance();
    void add_crc();
    void cover(std::size_t end);

    std::uint8_t* frame_{};
    std::size_t size_{};    ///< bytes, with the CRC
    std::size_t at_{};      ///< the run's next byte
    std::size_t run_end_{}; ///< end of the run
    bool zero_behind_{};    ///< the run ends at a zero of the frame
    std::uint32_t crc_{};
    std::size_t covered_{}; ///< bytes in the CRC so far
    Part part_{Part::none};
};

} // namespace mmioscope
