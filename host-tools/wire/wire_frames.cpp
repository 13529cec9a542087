#include "wire/wire_frames.hpp"

#include "system/crc.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope::wire {

namespace {

constexpr std::size_t crc_size = sizeof(std::uint32_t);
/// COBS adds one byte in 254, and one (abi/wire.hpp).
constexpr std::size_t max_piece = abi::max_frame + abi::max_frame / 254 + 1;

// COBS: false if `piece` is invalid, or decodes to more than a frame.
bool decode(std::span<const std::uint8_t> piece, std::vector<std::uint8_t>& frame) {
    frame.clear();
    while (!piece.empty()) {
        const std::size_t run = piece[0] - 1u;
        if (run >= piece.size()) {
            return false;
        }
        frame.insert(frame.end(), piece.begin() + 1, piece.begin() + 1 + static_cast<long>(run));
        piece = piece.subspan(1 + run);
        if (run != 254 && !piece.empty()) {
            frame.push_back(0);
        }
    }
    return frame.size() <= abi::max_frame;
}

bool crc_holds(std::span<const std::uint8_t> frame) {
    std::uint32_t sent = 0;
    std::memcpy(&sent, frame.data() + frame.size() - crc_size, crc_size);
    return sent == crc(std::as_bytes(frame.first(frame.size() - crc_size)));
}

} // namespace

void WireFrames::feed(std::span<const std::byte> bytes) {
    counts_.bytes += bytes.size();
    for (const std::byte byte : bytes) {
        if (byte == std::byte{0}) {
            end_piece();
        } else if (piece_.size() <= max_piece) {
            piece_.push_back(static_cast<std::uint8_t>(byte));
        }
    }
}

void WireFrames::finish() {
    end_piece();
}

void WireFrames::end_piece() {
    if (!piece_.empty() && !take_frame() && in_step_) {
        ++counts_.damaged;
    }
    piece_.clear();
    in_step_ = true;
}

bool WireFrames::take_frame() {
    if (piece_.size() > max_piece || !decode(piece_, frame_) ||
        frame_.size() < abi::frame_overhead || !crc_holds(frame_)) {
        return false;
    }
    abi::FrameHeader header;
    std::memcpy(&header, frame_.data(), sizeof header);
    if (header.version != abi::wire_version) {
        piece_.clear();
        throw bad_input("the stream has version {}; this program reads version {}", header.version,
                        abi::wire_version);
    }
    ++counts_.frames;
    count_missing(header);
    take_(header, std::span<const std::uint8_t>(frame_).subspan(
                      sizeof header, frame_.size() - abi::frame_overhead));
    return true;
}

// Each boot counts from 0.
void WireFrames::count_missing(const abi::FrameHeader& header) {
    if (any_ && header.boot == last_.boot) {
        counts_.missing += static_cast<std::uint16_t>(header.sequence - last_.sequence - 1);
    }
    any_ = true;
    last_ = header;
}

} // namespace mmioscope::wire
