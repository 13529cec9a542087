#include "import/mmiotrace.hpp"

#include "import/imported.hpp"
#include "import/mmiotrace_line.hpp"
#include "import/qemu_log.hpp"
#include "import/text_lines.hpp"
#include "records/losses.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <optional>

namespace mmioscope::importing {

namespace {

constexpr std::uint32_t nanoseconds = 1'000'000'000; // ticks per second
constexpr std::uint8_t supervisor = 0x13;            // CPSR.M: mmiotrace sees the kernel's accesses
constexpr char mmiotrace_origin[] =
    "imported-from=mmiotrace\n"
    "not-known=engine, policy, boot id, ending, cpus, cpu, lr, sp, task, "
    "duration; of UNKNOWN lines size, direction and value, too\n";

std::string pci_path(const MmioPci& device) {
    const std::string place =
        fmt::format("/{:02x}:{:02x}.{:x}", device.bus, device.function >> 3, device.function & 7);
    return device.driver.empty() ? fmt::format("{},{:04x}:{:04x}", place, device.id >> 16 & 0xffff,
                                               device.id & 0xffff)
                                 : fmt::format("{},{}", place, device.driver);
}

/// First pass: the lines that name addresses.
class MappedRegions {
public:
    void operator()(const MmioDevice& line) {
        list.add(line.base, line.size, "/" + std::string(line.name));
    }
    void operator()(const MmioPci& line) {
        for (const MmioPci::Bar& bar : line.bars) {
            list.add(bar.base, bar.size, pci_path(line), bar.number);
        }
        if (kept_.size() < most_kept) {
            kept_[line.bus << 8 | line.function] = line.rest;
        }
    }
    void operator()(const MmioMap& line) { list.add_mapping(line.physical, line.size); }
    void operator()(const MmioAccess& line) {
        if (line.pc != 0 && !pc_high_) {
            pc_high_ = static_cast<std::uint32_t>(line.pc >> 32);
        }
    }
    template <typename Other>
    void operator()(const Other&) {}

    /// The trace's text on its origin.
    std::string text() const {
        std::string text = mmiotrace_origin;
        for (const auto& [place, rest] : kept_) {
            text += fmt::format("{}{:04x}={}\n", importing::pci_key, place, rest);
        }
        if (pc_high() != 0) {
            text += fmt::format("{}={:x}\n", importing::pc_high_key, pc_high());
        }
        return text;
    }

    /// The first PC's upper half: kernels have all their code in one range of it.
    std::uint32_t pc_high() const { return pc_high_.value_or(0); }

    RegionList list;

private:
    static constexpr std::size_t most_kept = 4096;

    std::map<unsigned, std::string> kept_; ///< PCIDEV lines, by the function's place
    std::optional<std::uint32_t> pc_high_;
};

/// Second pass: the lines that are events.
class Events {
public:
    Events(const MappedRegions& regions, TraceMaker& maker, Report& report)
        : regions_(regions.list), pc_high_(regions.pc_high()), maker_(maker), report_(report) {}

    void line(std::string_view text) {
        ++number_;
        std::visit(*this, parse_mmiotrace(text));
    }

    void operator()(const MmioAccess& line) {
        if (line.physical >> 40 != 0) {
            ++beyond_;
            return;
        }
        abi::Record record{};
        record.type = abi::RecordType::access;
        record.access = abi::encode_access(line.write, static_cast<unsigned>(line.log2_size));
        record.mode = supervisor;
        record.flags = line.known ? 0 : abi::flag_value_unknown;
        record.time = time(line.time);
        record.value = line.value;
        record.device = regions_.find(line.physical);
        record.pc = static_cast<std::uint32_t>(line.pc);
        record.va = virtual_address(line);
        wide_ += line.pc != 0 && line.pc >> 32 != pc_high_ ? 1 : 0;
        abi::set_physical_address(record, line.physical);
        maker_.add(record);
        ++report_.accesses;
    }
    void operator()(const MmioMap& line) {
        ++used_;
        if (maps_.size() < most_maps || maps_.contains(line.map)) {
            maps_[line.map] = line;
        }
    }
    void operator()(const MmioUnmap& line) { maps_.erase(line.map); }
    void operator()(const MmioMark& line) {
        ++used_;
        maker_.mark(time(line.time), line.text);
    }
    // Linux writes no time for it.
    void operator()(const MmioLost& line) {
        ++used_;
        if (!line.known) {
            ++unknown_;
            maker_.mark(last_, "events were lost here, ftrace does not know how many");
            return;
        }
        if (line.count > 0) {
            report_.lost = trace::add_lost(report_.lost, line.count);
            maker_.lose(0, last_, line.count);
        }
    }
    void operator()(const MmioMalformed& line) { report_.malformed.add(number_, line.why); }
    template <typename Other>
    void operator()(const Other&) {}

    std::uint64_t used() const { return used_ + report_.accesses; }

    void finish() {
        if (beyond_ > 0) {
            report_.missing.push_back(
                fmt::format("{} accesses to addresses of more than 40 bits are left out", beyond_));
        }
        if (unknown_ > 0) {
            report_.missing.push_back(
                fmt::format("ftrace lost events {} times, number unknown", unknown_));
        }
        maker_.finish(report_.incomplete());
        notes();
    }

private:
    void notes() {
        if (early_ > 0) {
            report_.notes.push_back(fmt::format(
                "{} lines are earlier than the previous one, and got its time", early_));
        }
        if (wide_ > 0) {
            report_.notes.push_back(
                fmt::format("the PCs of {} accesses have another upper half: cut", wide_));
        }
        if (regions_.left_out() > 0) {
            report_.notes.push_back(
                fmt::format("{} mappings beyond the first 4096 have no name", regions_.left_out()));
        }
    }

    static constexpr std::size_t most_maps = 1 << 20;

    // A trace is in the order of time.
    std::uint64_t time(std::uint64_t time) {
        early_ += time < last_ ? 1 : 0;
        last_ = std::max(last_, time);
        return last_;
    }

    std::uint32_t virtual_address(const MmioAccess& line) const {
        const auto map = maps_.find(line.map);
        // A record has room for 32 bits of it: others are unknown.
        const bool inside = map != maps_.end() && map->second.virt != 0 &&
                            map->second.virt >> 32 == 0 &&
                            line.physical - map->second.physical < map->second.size;
        return inside ? static_cast<std::uint32_t>(map->second.virt + line.physical -
                                                   map->second.physical)
                      : 0;
    }

    const RegionList& regions_;
    std::uint32_t pc_high_;
    TraceMaker& maker_;
    Report& report_;
    std::map<std::uint64_t, MmioMap> maps_;
    std::uint64_t number_ = 0;
    std::uint64_t used_ = 0;
    std::uint64_t last_ = 0;
    std::uint64_t early_ = 0;
    std::uint64_t wide_ = 0;
    std::uint64_t beyond_ = 0;  ///< accesses left out
    std::uint64_t unknown_ = 0; ///< losses without their number
};

} // namespace

Report import_mmiotrace(ByteSource& first, ByteSource& second, int fd) {
    MappedRegions regions;
    importing::for_each_line(
        first, [&](std::string_view text) { std::visit(regions, parse_mmiotrace(text)); });
    regions.list.finish();
    Report report;
    TraceMaker maker(fd, nanoseconds, 1, "mmiotrace", regions.list.regions(), regions.text());
    Events events(regions, maker, report);
    importing::for_each_line(second, [&](std::string_view text) { events.line(text); });
    if (events.used() == 0) {
        throw bad_input("it has no line of mmiotrace");
    }
    events.finish();
    return report;
}

} // namespace mmioscope::importing
