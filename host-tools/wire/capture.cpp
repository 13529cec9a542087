#include "wire/capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace mmioscope::wire {

namespace {

constexpr std::uint8_t lf = '\n', cr = '\r', xon = 0x11, xoff = 0x13;

bool is_digit(std::uint8_t byte) {
    return byte >= '0' && byte <= '9';
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
    before_ = byte;
}

std::uint64_t Capture::texts() const {
    std::uint64_t texts = count(lf) + count(cr) + count('\t');
    for (std::uint8_t byte = 0x20; byte < 0x7f; ++byte) {
        texts += count(byte);
    }
    return texts;
}

std::uint64_t Capture::hex_digits() const {
    std::uint64_t digits = 0;
    for (const char digit : std::string_view("0123456789abcdefABCDEF")) {
        digits += count(static_cast<std::uint8_t>(digit));
    }
    return digits;
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
        // Beside digits and blanks, hexdump -C and xxd have what can be printed. A console has
        // blanks, too.
        return hex_digits() * 2 > all_ - count(' ')
                   ? "this is a hex dump: make it binary, as xxd -r does"
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

} // namespace mmioscope::wire
