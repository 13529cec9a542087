#include "wire/wire_frames.hpp"

#include "system/crc.hpp"
#include "system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

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

namespace {

constexpr std::uint8_t lf = '\n', cr = '\r', xon = 0x11, xoff = 0x13;

bool is_digit(std::uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

bool is_hex(char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

/// The words of a line, without what may stand before or behind the digits of a dump.
std::vector<std::string_view> words_of(std::string_view line) {
    constexpr std::string_view between = " \t\r,";
    std::vector<std::string_view> words;
    while ((line = line.substr(std::min(line.size(), line.find_first_not_of(between)))) != "") {
        std::string_view word = line.substr(0, line.find_first_of(between));
        line.remove_prefix(word.size());
        word.remove_prefix(word.starts_with("0x") || word.starts_with("0X") ? 2 : 0);
        words.push_back(word);
    }
    return words;
}

/// The bytes that a line of a hex dump shows: all of one width, perhaps behind an offset; or
/// without blanks. Empty: it is no such line. Beside them hexdump -C and xxd have what can be
/// printed.
std::span<const std::string_view> dump_in(const std::vector<std::string_view>& words) {
    constexpr std::size_t least = 4;      // words; a dump of a stream has 8 or 16 in a line
    constexpr std::size_t long_word = 32; // digits, as xxd -p writes them
    const auto all_hex = [](std::string_view word) { return std::ranges::all_of(word, is_hex); };
    for (std::size_t first = 0; first < std::min<std::size_t>(words.size(), 2); ++first) {
        const std::size_t width = words[first].size();
        const auto end = std::find_if(
            words.begin() + static_cast<std::ptrdiff_t>(first), words.end(),
            [&](std::string_view word) { return word.size() != width || !all_hex(word); });
        const auto count = static_cast<std::size_t>(end - words.begin()) - first;
        if (((width == 2 || width == 4 || width == 8) && count >= least) ||
            (width >= long_word && count >= 1)) {
            return std::span(words).subspan(first, count);
        }
        std::string_view offset = words[first];
        offset.remove_suffix(offset.ends_with(':') ? 1 : 0);
        if (!all_hex(offset)) {
            break;
        }
    }
    return {};
}

bool is_printable(std::uint8_t byte) {
    return byte >= 0x20 && byte < 0x7f;
}

} // namespace

void Capture::feed(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes.first(std::min<std::size_t>(bytes.size(), most - all_))) {
        add(std::to_integer<std::uint8_t>(byte));
    }
}

void Capture::add(std::uint8_t byte) {
    ++all_;
    ++bytes_[byte];
    if (at_ < stamp) {
        digits_ += is_digit(byte) ? 1 : 0;
        at_ = is_printable(byte) ? at_ + 1 : stamp + 1;
        stamps_ += at_ == stamp && digits_ >= 2 ? 1 : 0;
    }
    if (byte == lf) {
        feeds_behind_cr_ += before_ == cr ? 1 : 0;
        at_ = 0;
        digits_ = 0;
    }
    if (byte != lf) {
        line_ += static_cast<char>(byte);
    }
    if (byte == lf || line_.size() == longest_line) {
        end_line();
    }
    before_ = byte;
}

void Capture::end_line() {
    const std::vector<std::string_view> words = words_of(line_);
    const std::span<const std::string_view> dump = dump_in(words);
    lines_ += words.empty() ? 0 : 1;
    dumped_ += dump.empty() ? 0 : 1;
    for (const std::string_view word : dump) {
        const auto decimal = static_cast<std::uint64_t>(std::ranges::count_if(
            word, [](char c) { return is_digit(static_cast<std::uint8_t>(c)); }));
        digits_0_9_ += decimal;
        digits_a_f_ += word.size() - decimal;
    }
    line_.clear();
}

// A stream's digits are a to f in six of sixteen cases; tables of numbers have fewer, or none.
bool Capture::is_hex_dump() const {
    return dumped_ * 4 >= lines_ * 3 && digits_a_f_ * 7 >= digits_0_9_ && dumped_ > 0;
}

std::uint64_t Capture::texts() const {
    std::uint64_t texts = count(lf) + count(cr) + count('\t');
    for (std::uint8_t byte = 0x20; byte < 0x7f; ++byte) {
        texts += count(byte);
    }
    return texts;
}

// The chance that a sound stream of 512 bytes looks so is below 2 % for each, and a sound stream is
// not asked.
std::string Capture::what() const {
    const std::uint64_t feeds = count(lf);
    std::uint64_t above = 0;
    for (std::size_t byte = 0x80; byte < bytes_.size(); ++byte) {
        above += bytes_[byte];
    }
    if (texts() == all_) {
        return is_hex_dump() ? "this is a hex dump: make it binary, as xxd -r does"
                             : "this is text: a console, or another port";
    }
    if (above == 0) {
        return "no byte has bit 7: the line carries 7 bits, set it to 8";
    }
    if (count(0) == 0) {
        return "no byte is zero: what wrote it leaves out zeros";
    }
    if (feeds >= 2 && stamps_ * 4 >= feeds * 3) {
        return "a time stamp follows each line feed: a terminal program wrote it";
    }
    if (feeds >= 2 && feeds_behind_cr_ == feeds) {
        return "each line feed has a carriage return in front: a terminal or a terminal program "
               "wrote CR LF";
    }
    if (count(xon) + count(xoff) == 0) {
        return "no byte is XON or XOFF: software flow control took them";
    }
    if (count(cr) == 0 && all_ >= 4 * least) {
        return "no byte is CR: a terminal made LF of it";
    }
    return "";
}

std::string Capture::cause(const WireCounts& counts) const {
    if (all_ < least || counts.damaged < counts.frames) {
        return "";
    }
    const std::string found = what();
    return fmt::format("most of the stream is damaged{}{}; it must come as it is: let mmioscope "
                       "record read the port, or use stty raw cs8 -ixon -ixoff -onlcr",
                       found.empty() ? "" : ": ", found);
}

void SharedWire::feed(std::span<const std::byte> bytes) {
    console_.clear();
    stream_.clear();
    for (const std::byte byte : bytes) {
        const auto value = std::to_integer<std::uint8_t>(byte);
        std::uint8_t of_stream = 0;
        const abi::shared_wire::Owner owner = splitter_.take(value);
        if (owner == abi::shared_wire::Owner::console) {
            console_.push_back(byte);
        } else if (owner == abi::shared_wire::Owner::stream && unpacker_.add(value, of_stream)) {
            stream_.push_back(std::byte{of_stream});
        }
    }
}

} // namespace mmioscope::wire
