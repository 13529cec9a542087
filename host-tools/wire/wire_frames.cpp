#include "wire/wire_frames.hpp"

#include "system/crc.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope::wire {

namespace {

constexpr std::size_t crc_size = sizeof(std::uint32_t);
/// A frame with something new is that many behind the latest one, at most. Of one with a lower
/// number most of all 2^16 numbers were missing in between.
constexpr int most_late = 256;
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

template <typename Headers>
auto find(Headers& latest, const abi::FrameHeader& header) {
    return std::ranges::find(latest, header.boot, &abi::FrameHeader::boot);
}

int step_to(const abi::FrameHeader& latest, const abi::FrameHeader& header) {
    return static_cast<std::int16_t>(header.sequence - latest.sequence);
}

bool crc_holds(std::span<const std::uint8_t> frame) {
    std::uint32_t sent = 0;
    std::memcpy(&sent, frame.data() + frame.size() - crc_size, crc_size);
    return sent == crc(std::as_bytes(frame.first(frame.size() - crc_size)));
}

} // namespace

void WireFrames::feed(std::span<const std::byte> bytes) {
    counts_.bytes += bytes.size();
    while (!bytes.empty()) {
        const auto* from = reinterpret_cast<const std::uint8_t*>(bytes.data());
        const auto* zero = static_cast<const std::uint8_t*>(std::memchr(from, 0, bytes.size()));
        const auto length = zero ? static_cast<std::size_t>(zero - from) : bytes.size();
        piece_.insert(piece_.end(), from, from + std::min(length, max_piece + 1 - piece_.size()));
        if (zero) {
            end_piece();
        }
        bytes = bytes.subspan(length + (zero ? 1 : 0));
    }
}

void WireFrames::finish() {
    end_piece();
}

void WireFrames::end_piece() {
    if (!piece_.empty() && !end_frame() && in_step_) {
        ++counts_.damaged;
        spoilt_(piece_);
    }
    piece_.clear();
    in_step_ = true;
}

bool WireFrames::end_frame() {
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
    if (find(latest_, header) == latest_.end()) {
        begin_boot(header);
    } else if (step_to(*find(latest_, header), header) > 1) {
        spoilt_({});
    }
    count(header, on_frame_(header, std::span<const std::uint8_t>(frame_).subspan(
                                        sizeof header, frame_.size() - abi::frame_overhead)));
    return true;
}

bool WireFrames::goes_back(const abi::FrameHeader& header) const {
    const auto latest = find(latest_, header);
    return latest != latest_.end() && step_to(*latest, header) <= 0;
}

// A boot's first frame follows what is before it: nothing is known of that.
void WireFrames::begin_boot(const abi::FrameHeader& header) {
    if (latest_.size() == most_boots) {
        latest_.erase(latest_.begin());
    }
    latest_.push_back(header);
    --latest_.back().sequence;
}

// Each boot counts from 0, modulo 2^16.
void WireFrames::count(const abi::FrameHeader& header, Age age) {
    abi::FrameHeader& latest = *find(latest_, header);
    if (age == Age::first && step_to(latest, header) <= 0) {
        latest = header;
    } else if (age == Age::stale || (age == Age::unknown && step_to(latest, header) <= 0)) {
        ++counts_.repeated;
    } else if (const int step = step_to(latest, header); step <= 0 && step > -most_late) {
        counts_.missing -= std::min<std::uint64_t>(counts_.missing, 1); // it was late only
    } else {
        counts_.missing += static_cast<std::uint16_t>(step_to(latest, header) - 1);
        latest = header;
    }
    at_latest_ = header.sequence == latest.sequence;
}

} // namespace mmioscope::wire
