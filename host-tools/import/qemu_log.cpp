#include "import/qemu_log.hpp"

#include "import/access_log.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

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

} // namespace mmioscope::importing
