#include "wire/capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <vector>

namespace mmioscope::wire {

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
