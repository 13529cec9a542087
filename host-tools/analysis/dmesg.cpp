#include "analysis/dmesg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace mmioscope::analysis {

namespace {

std::string_view without_level(std::string_view line) {
    const std::size_t end = line.find('>');
    return line.starts_with('<') && end != std::string_view::npos && end <= 4 ? line.substr(end + 1)
                                                                              : line;
}

// A record of /dev/kmsg (Documentation/ABI/testing/dev-kmsg): "6,339,4100000,-;text", with the time
// in us; as dmesg would print it.
std::optional<DmesgLine> record_of(std::string_view line) {
    const char* const end = line.data() + line.size();
    std::uint64_t numbers[3] = {}; // priority, sequence, time
    const char* at = line.data();
    for (std::uint64_t& number : numbers) {
        const auto [stop, error] = std::from_chars(at, end, number);
        if (error != std::errc() || stop == end || *stop != ',') {
            return std::nullopt;
        }
        at = stop + 1;
    }
    const std::size_t text = line.find(';');
    const std::uint64_t micros = numbers[2];
    if (text == line.npos || micros >= std::uint64_t{1'000'000'000'000'000}) {
        return std::nullopt;
    }
    return DmesgLine{static_cast<std::int64_t>(micros * 1000),
                     fmt::format("[{:5}.{:06}] {}", micros / 1'000'000, micros % 1'000'000,
                                 line.substr(text + 1))};
}

// printk's time may stand behind what syslog, journalctl or `dmesg -x` writes, up to ": ", and have
// the difference to the previous line in it (`dmesg -d`).
std::optional<DmesgLine> line_of(std::string_view line) {
    line = without_level(line);
    if (const std::size_t behind = line.find(": [");
        !line.starts_with('[') && behind < line.size()) {
        line = line.substr(behind + 2);
    }
    const std::size_t close = line.find(']');
    if (!line.starts_with('[') || close == std::string_view::npos) {
        return record_of(line);
    }
    std::string_view number = line.substr(1, close - 1);
    number.remove_prefix(std::min(number.find_first_not_of(' '), number.size()));
    number = number.substr(0, number.find(" <"));
    double seconds = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), seconds);
    const bool whole = end == number.data() + number.size() && number.find('.') != number.npos;
    if (error != std::errc() || !whole || !(seconds >= 0 && seconds < 1e9)) {
        return std::nullopt;
    }
    return DmesgLine{std::llround(seconds * 1e9), std::string(line)};
}

} // namespace

std::vector<DmesgLine> read_dmesg(std::istream& in) {
    std::vector<DmesgLine> lines;
    for (std::string text; std::getline(in, text);) {
        while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) {
            text.pop_back();
        }
        if (std::optional<DmesgLine> line = line_of(text)) {
            lines.push_back(std::move(*line));
        }
    }
    return lines;
}

DmesgOffset::DmesgOffset(const std::vector<DmesgLine>& lines) {
    for (const DmesgLine& line : lines) {
        if (line.nanoseconds == 0) {
            continue; // printed before the kernel had a clock
        }
        times_.emplace(line.text, line.nanoseconds);
    }
}

void DmesgOffset::add(const Event& event) {
    const std::optional<UartText::Line> line = uart_.add(event);
    if (!line || line->nanoseconds > dmesg_limit) {
        return;
    }
    std::string_view text = line->text;
    text = text.substr(0, text.find_last_not_of(' ') + 1);
    if (const auto found = times_.find(text); found != times_.end()) {
        bounds_.push_back(static_cast<std::int64_t>(line->nanoseconds) - found->second);
    }
}

std::optional<std::int64_t> DmesgOffset::estimate() const {
    const auto least = std::min_element(bounds_.begin(), bounds_.end());
    return least == bounds_.end() ? std::nullopt : std::optional(*least);
}

std::int64_t DmesgOffset::half_within() const {
    std::vector<std::int64_t> sorted = bounds_;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() / 2] - sorted.front();
}

std::optional<UartText::Line> UartText::add(const Event& event) {
    const abi::Record& record = event.record;
    const bool data = record.type == abi::RecordType::access && abi::is_write(record) &&
                      event.offset() == 0 && record.device != abi::no_device;
    if (!data) {
        return std::nullopt;
    }
    Line& line = open_[record.device];
    const auto character = static_cast<char>(record.value & 0xff);
    if (character == '\n') {
        return std::exchange(line, {});
    }
    if (line.text.empty()) {
        line.nanoseconds = event.nanoseconds;
    }
    if (character != '\r' && line.text.size() < longest) {
        line.text += character;
    }
    return std::nullopt;
}

} // namespace mmioscope::analysis
