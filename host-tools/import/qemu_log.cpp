#include "import/qemu_log.hpp"

#include "logs/access_log.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <set>

namespace mmioscope::importing {

namespace {

using logs::AccessLog;
using logs::Line;
using logs::LineKind;

constexpr std::uint64_t page_size = 4096;
constexpr char qemu_origin[] =
    "imported-from=QEMU's log of memory_region_ops\n"
    "not-known=engine, policy, boot id, ending, clock, time (line numbers instead), "
    "pc, lr, sp, va, task, mode, duration\n";

/// Finds the place of each of QEMU's regions from its accesses: a run of pages is a region.
class Places {
public:
    explicit Places(const AccessLog& log) {
        std::vector<std::set<std::uint64_t>> pages(log.regions.size());
        for (const Line& line : log.lines) {
            if (line.kind == LineKind::access) {
                pages[line.region].insert(line.address / page_size);
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
    static constexpr std::size_t most = 4096;

    void add(std::uint16_t region, std::string name, const std::set<std::uint64_t>& pages) {
        std::replace(name.begin(), name.end(), '/', '|');
        std::uint64_t before = 0;
        for (const std::uint64_t page : pages) {
            const std::uint64_t base = page * page_size;
            const bool goes_on = page != *pages.begin() && page == before + 1;
            before = page;
            if (goes_on && !regions_.empty()) {
                regions_.back().size += page_size;
            } else if (regions_.size() < most) {
                regions_.push_back(
                    make_region(base, page_size, fmt::format("/{}@{:x}", name, base)));
            } else {
                return;
            }
            index_[{region, page}] = static_cast<std::uint16_t>(regions_.size() - 1);
        }
    }

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

abi::Record record_of(const Line& line, const Places& places) {
    abi::Record record{};
    record.type = abi::RecordType::access;
    record.cpu = static_cast<std::uint8_t>(std::max<int>(line.cpu, 0));
    record.access = abi::encode_access(line.write, static_cast<unsigned>(log2_size(line.size)));
    record.time = line.number;
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
    const AccessLog log = logs::read_access_log(source);
    const Places places(log);
    Report report;
    TraceMaker maker(fd, 0, cpus_of(log), "QEMU", places.regions(), qemu_origin);
    std::uint64_t unmodelled = 0;
    std::uint64_t unusable = 0;
    std::uint64_t beyond = 0;
    for (const Line& line : log.lines) {
        if (!usable(line)) {
            ++unusable;
            continue;
        }
        if (line.address >> 40 != 0) {
            ++beyond;
            continue;
        }
        unmodelled += line.kind == LineKind::unmodelled ? 1 : 0;
        maker.add(record_of(line, places));
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
