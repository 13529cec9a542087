#include "logs/access_log.hpp"

#include "logs/text_lines.hpp"
#include "system/error.hpp"

#include <functional>
#include <map>
#include <string_view>

namespace mmioscope::logs {

namespace {

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

    std::uint16_t region(std::string_view name) {
        if (const auto known = regions_.find(name); known != regions_.end()) {
            return known->second;
        }
        if (log_.regions.size() == most_regions) {
            throw bad_input("line {}: more than {} names of regions", number_, most_regions);
        }
        const auto index = static_cast<std::uint16_t>(log_.regions.size());
        log_.regions.emplace_back(name);
        regions_.emplace(name, index);
        return index;
    }

    static constexpr std::size_t most_regions = 65535; ///< a Line has 16 bits for the index

    AccessLog& log_;
    std::map<std::string, std::uint16_t, std::less<>> regions_;
    std::uint32_t number_ = 0;
};

} // namespace

AccessLog read_access_log(ByteSource& source) {
    AccessLog log;
    Parser parser(log);
    for_each_line(source, [&](std::string_view text) { parser.line(text); });
    return log;
}

} // namespace mmioscope::logs
