#include "import/qemu_log.hpp"

#include "system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>

namespace mmioscope::importing {

namespace {

using importing::AccessLog;
using importing::Line;
using importing::LineKind;

constexpr std::uint64_t page_size = 4096;
constexpr std::uint32_t micros = 1'000'000; // ticks per second
constexpr char qemu_origin[] =
    "imported-from=QEMU's log of memory_region_ops\n"
    "not-known=engine, policy, boot id, ending, {}pc, lr, sp, va, task, mode, duration\n";

/// Finds the place of each of QEMU's regions from its accesses: a run of pages is a region. It
/// begins with its first page, unless what else is accessed there, or how far from there it is
/// accessed first, shows that it begins inside.
class Places {
public:
    explicit Places(const AccessLog& log) {
        for (const Line& line : log.lines) {
            if (line.kind == LineKind::access) {
                Use& use = pages_[line.address / page_size]
                               .uses.try_emplace(line.region, line)
                               .first->second;
                use.first = std::min(use.first, line.address);
                use.last = std::max(use.last, line.address);
            }
        }
        std::vector<std::vector<std::uint64_t>> pages(log.regions.size());
        for (auto& [number, page] : pages_) {
            for (const auto& [region, use] : page.uses) {
                pages[region].push_back(number);
                page.firsts.insert(use.first);
                page.ends.insert(use.last + 1);
            }
        }
        for (std::size_t i = 0; i < pages.size(); ++i) {
            add(static_cast<std::uint16_t>(i), log.regions[i], pages[i]);
        }
    }

    std::uint16_t find(const Line& line) const {
        const auto at = index_.find({line.region, line.address / page_size});
        return line.kind == LineKind::access && at != index_.end() ? at->second : abi::no_device;
    }
    const std::vector<abi::RegionEntry>& regions() const { return regions_; }

private:
    /// Of a page by a region: the lowest and the highest address.
    struct Use {
        explicit Use(const Line& line) : first(line.address), last(line.address) {}
        std::uint64_t first;
        std::uint64_t last;
    };
    struct Page {
        std::map<std::uint16_t, Use> uses; ///< by region
        std::set<std::uint64_t> firsts;    ///< of all of them
        std::set<std::uint64_t> ends;      ///< behind the last of each
    };
    static constexpr std::size_t most = 4096;

    void add(std::uint16_t region, std::string name, const std::vector<std::uint64_t>& pages) {
        std::replace(name.begin(), name.end(), '/', '|');
        std::uint64_t before = 0;
        for (const std::uint64_t page : pages) {
            const bool goes_on = page != pages.front() && page == before + 1;
            before = page;
            if (!goes_on) {
                if (regions_.size() == most) {
                    return;
                }
                const std::uint64_t base =
                    page == pages.front() ? begin_in(page, pages_.at(page).uses.at(region).first)
                                          : page * page_size;
                regions_.push_back(make_region(base, 0, fmt::format("/{}@{:x}", name, base)));
            }
            regions_.back().size = end_in(page, region) - regions_.back().base;
            index_[{region, page}] = static_cast<std::uint16_t>(regions_.size() - 1);
        }
    }

    /// At a multiple of 0x400, or of less if another region's accesses end behind that.
    std::uint64_t begin_in(std::uint64_t page, std::uint64_t first) const {
        constexpr std::uint64_t identification = 0xfd0; // registers of Arm's and of CoreSight
        const std::set<std::uint64_t>& ends = pages_.at(page).ends;
        const auto behind = ends.upper_bound(first);
        const std::uint64_t after = behind == ends.begin() ? page * page_size : *std::prev(behind);
        if (after % page_size == 0 && first % page_size >= identification) {
            return page * page_size;
        }
        std::uint64_t size = 0x400;
        while ((first & ~(size - 1)) < after) {
            size /= 2;
        }
        return first & ~(size - 1);
    }

    /// Where the next region in this page begins, which is the one that is accessed first; else
    /// with the page.
    std::uint64_t end_in(std::uint64_t page, std::uint16_t region) const {
        const Page& all = pages_.at(page);
        const auto next = all.firsts.upper_bound(all.uses.at(region).last);
        return next == all.firsts.end() ? (page + 1) * page_size : begin_in(page, *next);
    }

    std::map<std::uint64_t, Page> pages_; ///< by number
    std::vector<abi::RegionEntry> regions_;
    std::map<std::pair<std::uint16_t, std::uint64_t>, std::uint16_t> index_;
};

// QEMU logs all bits that a model received or returned.
std::uint64_t on_the_bus(const Line& line) {
    return line.size >= 8 ? line.value : line.value & ((std::uint64_t{1} << 8 * line.size) - 1);
}

unsigned cpus_of(const AccessLog& log) {
    int most = 0;
    for (const Line& line : log.lines) {
        most = std::max<int>(most, line.cpu);
    }
    return static_cast<unsigned>(most) + 1;
}

bool usable(const Line& line) {
    return line.kind != LineKind::rejected && log2_size(line.size) >= 0;
}

abi::Record record_of(const Line& line, std::uint64_t time, const Places& places) {
    abi::Record record{};
    record.type = abi::RecordType::access;
    record.cpu = static_cast<std::uint8_t>(std::max<int>(line.cpu, 0));
    record.access = abi::encode_access(line.write, static_cast<unsigned>(log2_size(line.size)));
    record.time = time;
    record.device = places.find(line);
    record.value = line.kind == LineKind::access ? on_the_bus(line) : 0;
    record.flags = line.kind == LineKind::access ? 0 : abi::flag_value_unknown;
    abi::set_physical_address(record, line.address);
    return record;
}

void add_line(std::vector<std::string>& to, std::uint64_t count, std::string_view what) {
    if (count > 0) {
        to.push_back(fmt::format("{} {}", count, what));
    }
}

} // namespace

Report import_qemu_log(ByteSource& source, int fd) {
    const AccessLog log = importing::read_access_log(source, importing::Regions::each);
    const bool timed = !log.times.empty();
    const Places places(log);
    Report report;
    TraceMaker maker(fd, timed ? micros : 0, cpus_of(log), "QEMU", places.regions(),
                     fmt::format(qemu_origin, timed ? "" : "clock, time (line numbers instead), "));
    std::uint64_t unmodelled = 0;
    std::uint64_t unusable = 0;
    std::uint64_t beyond = 0;
    std::uint64_t time = 0;
    for (std::size_t i = 0; i < log.lines.size(); ++i) {
        const Line& line = log.lines[i];
        if (!usable(line)) {
            ++unusable;
            continue;
        }
        if (line.address >> 40 != 0) {
            ++beyond;
            continue;
        }
        unmodelled += line.kind == LineKind::unmodelled ? 1 : 0;
        time = timed ? std::max(time, log.times[i]) : line.number; // never goes back
        maker.add(record_of(line, time, places));
        ++report.accesses;
    }
    if (report.accesses == 0) {
        throw bad_input("it has no accesses: is it QEMU's log of memory_region_ops?");
    }
    for (const std::uint32_t number : log.unreadable) {
        report.malformed.add(number, "an incomplete access");
    }
    add_line(report.missing, unusable,
             "accesses that a device model refused are left out: the log has no address");
    add_line(report.missing, beyond, "accesses to addresses of more than 40 bits are left out");
    maker.finish(report.incomplete());
    add_line(report.notes, unmodelled,
             "accesses reached no device model: they have no value, and CPU 0 instead of theirs");
    add_line(report.notes, log.not_by_cpu, "accesses by no CPU are left out");
    return report;
}

void RegionList::add(std::uint64_t base, std::uint64_t size, const std::string& path,
                     unsigned index) {
    const auto next = by_base_.lower_bound(base);
    const bool overlaps =
        at(base) != nullptr || (next != by_base_.end() && next->first - base < size);
    if (overlaps || regions_.size() == most) {
        left_out_ += overlaps ? 0 : 1;
        return;
    }
    by_base_[base] = static_cast<std::uint16_t>(regions_.size());
    regions_.push_back(make_region(base, size, path));
    regions_.back().reg_index = static_cast<std::uint16_t>(index);
}

void RegionList::add_mapping(std::uint64_t base, std::uint64_t size) {
    constexpr std::size_t most_mappings = 1 << 20;
    if (mappings_.size() < most_mappings) {
        std::uint64_t& end = mappings_[base];
        end = std::max(end, base + size);
    }
}

void RegionList::finish() {
    const std::vector<Range> free = free_ranges();
    for (const Range& range : free) {
        add(range.base, range.end - range.base, fmt::format("/map@{:x}", range.base));
    }
    mappings_.clear();
}

// The parts of mappings that belong to no region, joined with adjacent ones. One pass over both
// lists, so the time is linear.
std::vector<RegionList::Range> RegionList::free_ranges() const {
    std::vector<Range> free;
    auto next = by_base_.begin(); // the first region that ends after `at`
    std::uint64_t at = 0;         // everything before is done
    for (const auto& [base, end] : mappings_) {
        at = std::max(at, base);
        while (at < end) {
            while (next != by_base_.end() && end_of(next->second) <= at) {
                ++next;
            }
            const std::uint64_t region = next == by_base_.end() ? end : next->first;
            if (region <= at) {
                at = end_of(next->second);
                continue;
            }
            const std::uint64_t stop = std::min(end, region);
            if (!free.empty() && at == free.back().end) {
                free.back().end = stop;
            } else {
                free.push_back({at, stop});
            }
            at = stop;
        }
    }
    return free;
}

std::uint64_t RegionList::end_of(std::size_t index) const {
    return regions_[index].base + regions_[index].size;
}

const abi::RegionEntry* RegionList::at(std::uint64_t address) const {
    const auto after = by_base_.upper_bound(address);
    if (after == by_base_.begin()) {
        return nullptr;
    }
    const abi::RegionEntry& region = regions_[std::prev(after)->second];
    return address - region.base < region.size ? &region : nullptr;
}

std::uint16_t RegionList::find(std::uint64_t address) const {
    const abi::RegionEntry* const region = at(address);
    return region == nullptr ? abi::no_device
                             : static_cast<std::uint16_t>(region - regions_.data());
}

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
