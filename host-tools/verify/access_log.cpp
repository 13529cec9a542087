#include "verify/access_log.hpp"

#include <charconv>
#include <optional>
#include <string_view>

namespace mmioscope::verify {

namespace {

/// Takes a line apart from the left; anything unexpected makes it bad.
class Fields {
public:
    explicit Fields(std::string_view text) : rest_(text) {}

    void expect(std::string_view word) {
        good_ = good_ && rest_.starts_with(word);
        rest_.remove_prefix(good_ ? word.size() : 0);
    }

    template <typename T>
    T number(int base = 10) {
        T value{};
        const char* end = rest_.data() + rest_.size();
        const auto [stop, error] = std::from_chars(rest_.data(), end, value, base);
        good_ = good_ && error == std::errc{};
        rest_.remove_prefix(good_ ? static_cast<std::size_t>(stop - rest_.data()) : 0);
        return value;
    }

    std::string_view quoted() {
        expect("'");
        const std::size_t end = rest_.find('\'');
        good_ = good_ && end != std::string_view::npos;
        const std::string_view text = good_ ? rest_.substr(0, end) : std::string_view{};
        rest_.remove_prefix(good_ ? end + 1 : 0);
        return text;
    }

    bool good() const { return good_; }

private:
    std::string_view rest_;
    bool good_ = true;
};

class Parser {
public:
    explicit Parser(AccessLog& log) : log_(log) {}

    void line(std::string_view text) {
        ++number_;
        if (text.starts_with(read_) || text.starts_with(write_)) {
            access(text);
        } else if (text.starts_with("Invalid read at") || text.starts_with("Invalid write at")) {
            invalid(text);
        } else {
            ++log_.other_lines;
        }
    }

private:
    static constexpr std::string_view read_ = "memory_region_ops_read ";
    static constexpr std::string_view write_ = "memory_region_ops_write ";

    void access(std::string_view text) {
        Line line{};
        line.write = text.starts_with(write_);
        Fields fields(text.substr(line.write ? write_.size() : read_.size()));
        fields.expect("cpu ");
        line.cpu = fields.number<std::int8_t>();
        fields.expect(" mr 0x");
        fields.number<std::uint64_t>(16);
        fields.expect(" addr 0x");
        line.address = fields.number<std::uint64_t>(16);
        fields.expect(" value 0x");
        line.value = fields.number<std::uint64_t>(16);
        fields.expect(" size ");
        line.size = fields.number<std::uint8_t>();
        fields.expect(" name ");
        line.region = region(fields.quoted());
        line.kind = LineKind::access;
        if (fields.good() && line.cpu < 0) {
            ++log_.not_by_cpu;
        } else {
            keep(line, fields.good());
        }
    }

    void invalid(std::string_view text) {
        Line line{};
        line.write = text.starts_with("Invalid write");
        line.cpu = -1;
        Fields fields(
            text.substr(std::string_view(line.write ? "Invalid write" : "Invalid read").size()));
        fields.expect(" at addr 0x");
        line.address = fields.number<std::uint64_t>(16);
        fields.expect(", size ");
        line.size = fields.number<std::uint8_t>();
        fields.expect(", region ");
        const std::string_view name = fields.quoted();
        fields.expect(", reason: ");
        line.region = region(name);
        line.kind = name == "(null)" ? LineKind::unmodelled : LineKind::rejected;
        keep(line, fields.good());
    }

    void keep(Line& line, bool good) {
        line.number = number_;
        if (good) {
            log_.lines.push_back(line);
        } else {
            log_.unreadable.push_back(number_);
        }
    }

    // There are few regions, and runs of the same one.
    std::uint16_t region(std::string_view name) {
        for (std::size_t i = 0; i < log_.regions.size(); ++i) {
            if (log_.regions[i] == name) {
                return static_cast<std::uint16_t>(i);
            }
        }
        log_.regions.emplace_back(name);
        return static_cast<std::uint16_t>(log_.regions.size() - 1);
    }

    AccessLog& log_;
    std::uint32_t number_ = 0;
};

} // namespace

AccessLog read_access_log(trace::ByteSource& source) {
    AccessLog log;
    Parser parser(log);
    std::string block;
    std::size_t kept = 0; // the start of a line whose end has not been read
    for (;;) {
        constexpr std::size_t step = 1 << 20;
        block.resize(kept + step);
        const std::size_t got = source.read(block.data() + kept, step);
        const std::string_view text(block.data(), kept + got);
        std::size_t start = 0;
        for (std::size_t end = 0; (end = text.find('\n', start)) != std::string_view::npos;) {
            parser.line(text.substr(start, end - start));
            start = end + 1;
        }
        if (got < step) {
            if (start < text.size()) {
                parser.line(text.substr(start)); // cut off: most likely unreadable
            }
            return log;
        }
        kept = text.size() - start;
        block.erase(0, start);
    }
}

} // namespace mmioscope::verify
