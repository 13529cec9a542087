#include "import/access_log.hpp"

#include "import/text_lines.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

namespace mmioscope::importing {

namespace {

class Parser {
public:
    Parser(AccessLog& log, Regions regions) : log_(log), regions_are_(regions) {}

    void line(std::string_view text) {
        ++number_;
        text.remove_suffix(text.ends_with('\r') ? 1 : 0);
        const std::size_t at = text.find("memory_region_ops_");
        const std::string_view event = text.substr(std::min(at, text.size()));
        if (event.starts_with(read_) || event.starts_with(write_)) {
            time(text.substr(0, at));
            access(event);
        } else if (text.starts_with("Invalid read at") || text.starts_with("Invalid write at") ||
                   text.starts_with("Invalid access at")) {
            invalid(text);
        } else {
            ++log_.other_lines;
        }
    }

private:
    static constexpr std::string_view read_ = "memory_region_ops_read ";
    static constexpr std::string_view write_ = "memory_region_ops_write ";

    // The last word with seconds and six digits: behind the process's number or ftrace's columns.
    void time(std::string_view before) {
        for (std::size_t end = before.size(); end != before.npos;) {
            before = before.substr(0, end);
            end = before.find_last_of(" :@");
            if (is_time(before.substr(end + 1))) {
                return;
            }
        }
    }

    bool is_time(std::string_view word) {
        Fields fields(word);
        const auto seconds = fields.number<std::uint64_t>();
        fields.expect(".");
        const std::size_t digits = fields.rest().size();
        const auto micros = fields.number<std::uint32_t>();
        if (fields.good() && fields.at_end() && digits == 6 && seconds < most_seconds) {
            now_ = seconds * 1'000'000 + micros;
            if (log_.times.empty()) {
                log_.times.assign(log_.lines.size(), now_); // messages have no time
                timed_ = true;
            }
            return true;
        }
        return false;
    }

    void access(std::string_view text) {
        Line line{};
        line.write = text.starts_with(write_);
        Fields fields(text.substr(line.write ? write_.size() : read_.size()));
        fields.expect("cpu ");
        line.cpu = fields.number<std::int8_t>();
        fields.expect(" mr 0x");
        const auto pointer = fields.number<std::uint64_t>(16);
        fields.expect(" addr 0x");
        line.address = fields.number<std::uint64_t>(16);
        fields.expect(" value 0x");
        line.value = fields.number<std::uint64_t>(16);
        fields.expect(" size ");
        line.size = fields.number<std::uint8_t>();
        if (fields.at_end() && !named_ && fields.good()) {
            line.region = region(fmt::format("mr-{:x}", pointer), pointer);
        } else {
            fields.expect(" name ");
            line.region = region(fields.quoted(), pointer);
            named_ = named_ || fields.good(); // now a line without a name is cut off
        }
        line.kind = LineKind::access;
        if (fields.good() && line.cpu < 0) {
            ++log_.not_by_cpu;
        } else {
            keep(line, fields.good());
        }
    }

    // QEMU 5 writes "access", for reads and writes: taken for a read, as the value is not known.
    void invalid(std::string_view text) {
        Line line{};
        line.write = text.starts_with("Invalid write");
        line.cpu = -1;
        Fields fields(text.substr(text.find(" at")));
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
            if (timed_) {
                log_.times.push_back(now_);
            }
        } else {
            log_.unreadable.push_back(number_);
        }
    }

    std::uint16_t region(std::string_view name, std::uint64_t pointer = 0) {
        auto& known = regions_[regions_are_ == Regions::each ? pointer : 0];
        if (const auto found = known.find(name); found != known.end()) {
            return found->second;
        }
        if (log_.regions.size() == most_regions) {
            throw bad_input("line {}: more than {} regions", number_, most_regions);
        }
        const auto index = static_cast<std::uint16_t>(log_.regions.size());
        log_.regions.emplace_back(name);
        known.emplace(name, index);
        return index;
    }

    static constexpr std::size_t most_regions = 65535; ///< a Line has 16 bits for the index
    static constexpr std::uint64_t most_seconds = 1ull << 40;

    AccessLog& log_;
    Regions regions_are_;
    std::map<std::uint64_t, std::map<std::string, std::uint16_t, std::less<>>> regions_;
    std::uint64_t now_ = 0; ///< time of the last line that has one, us
    bool timed_ = false;
    bool named_ = false; ///< the log has names
    std::uint32_t number_ = 0;
};

} // namespace

AccessLog read_access_log(ByteSource& source, Regions regions) {
    AccessLog log;
    Parser parser(log, regions);
    for_each_line(source, [&](std::string_view text) { parser.line(text); });
    return log;
}

AccessLog read_access_log(ByteSource& source) {
    return read_access_log(source, Regions::by_name);
}

} // namespace mmioscope::importing
