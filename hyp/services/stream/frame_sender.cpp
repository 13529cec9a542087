#include "stream/frame_sender.hpp"

#include "start/crc32.hpp"

namespace mmioscope {

namespace {
constexpr std::size_t crc_size = sizeof(std::uint32_t);
constexpr std::size_t longest_run = 254;
} // namespace

void FrameSender::start(std::uint8_t* frame, std::size_t size) {
    frame_ = frame;
    size_ = size + crc_size;
    at_ = 0;
    crc_ = crc32_start;
    covered_ = 0;
    part_ = Part::length;
    find_run();
}

unsigned FrameSender::pump(Line& line, unsigned budget) {
    unsigned sent = 0;
    while (sent < budget && !done() && line.put(next_byte())) {
        ++sent;
        advance();
    }
    return sent;
}

std::uint8_t FrameSender::next_byte() const {
    switch (part_) {
    case Part::length: return static_cast<std::uint8_t>(run_end_ - at_ + 1);
    case Part::run: return frame_[at_];
    default: return 0;
    }
}

void FrameSender::advance() {
    if (part_ == Part::end) {
        part_ = Part::none;
        return;
    }
    if (part_ == Part::run) ++at_;
    part_ = Part::run;
    if (at_ < run_end_) return;
    if (at_ == size_ && !zero_behind_) {
        part_ = Part::end;
        return;
    }
    if (zero_behind_) ++at_;
    part_ = Part::length;
    find_run();
}

/// Finds the run of bytes from at_ to a zero, the end, or the most that one length byte can count.
void FrameSender::find_run() {
    const std::size_t end = size_ - crc_size;
    run_end_ = at_;
    zero_behind_ = false;
    while (run_end_ < size_ && run_end_ - at_ < longest_run && !zero_behind_) {
        if (run_end_ == end) add_crc();
        if (frame_[run_end_] == 0) zero_behind_ = true;
        else ++run_end_;
    }
    const std::size_t seen = run_end_ + (zero_behind_ ? 1 : 0);
    cover(seen < end ? seen : end);
}

/// Appends the CRC when all of the frame's own bytes have been read.
void FrameSender::add_crc() {
    const std::size_t end = size_ - crc_size;
    cover(end);
    const std::uint32_t crc = crc32_end(crc_);
    for (std::size_t i = 0; i < crc_size; ++i)
        frame_[end + i] = static_cast<std::uint8_t>(crc >> (8 * i));
}

void FrameSender::cover(std::size_t end) {
    if (end <= covered_) return;
    crc_ = crc32_more(crc_, frame_ + covered_, end - covered_);
    covered_ = end;
}

} // namespace mmioscope
