#include "import/mmiotrace.hpp"

#include "import/qemu_log.hpp"
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

namespace {

using importing::Fields;

constexpr std::string_view version = "20070824";
constexpr std::uint64_t giga = 1'000'000'000;

std::uint64_t hex(Fields& fields) {
    fields.expect(" 0x");
    return fields.number<std::uint64_t>(16);
}

// Nanoseconds of "12.345678", with at most nine decimals.
std::uint64_t time(std::string_view text, bool& good) {
    const std::size_t point = text.find('.');
    const std::string_view digits =
        point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
    Fields seconds(text.substr(0, point));
    Fields fraction(digits);
    const auto whole = seconds.number<std::uint32_t>();
    auto part = fraction.number<std::uint32_t>();
    good = good && seconds.good() && seconds.at_end() && fraction.good() && fraction.at_end() &&
           digits.size() <= 9;
    for (std::size_t i = digits.size(); i < 9; ++i) {
        part *= 10;
    }
    return whole * giga + part;
}

/// Removes the next word from `rest` and returns it.
std::string_view word(std::string_view& rest) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view first = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return first;
}

// After the value: PC and PID, which some tools leave out.
std::uint64_t pc(Fields& fields) {
    return fields.at_end() ? 0 : hex(fields);
}

MmioLine access(std::string_view rest, bool write) {
    MmioAccess line{};
    Fields width(word(rest));
    line.log2_size = log2_size(width.number<std::uint8_t>());
    bool good = width.good() && width.at_end() && line.log2_size >= 0;
    line.time = time(word(rest), good);
    Fields fields(rest);
    line.map = fields.number<std::uint64_t>();
    line.physical = hex(fields);
    line.value = hex(fields);
    line.pc = pc(fields);
    line.write = write;
    line.known = true;
    if (good && line.log2_size < 3) {
        line.value &= (std::uint64_t{1} << (8u << line.log2_size)) - 1;
    }
    return good && fields.good() ? MmioLine(line) : MmioMalformed{"an incomplete access"};
}

MmioLine unknown(std::string_view rest) {
    MmioAccess line{};
    bool good = true;
    line.time = time(word(rest), good);
    Fields fields(rest);
    line.map = fields.number<std::uint64_t>();
    line.physical = hex(fields);
    fields.expect(" ");
    fields.number<unsigned>(16);
    for (int i = 0; i < 2; ++i) {
        fields.expect(",");
        fields.number<unsigned>(16);
    }
    line.pc = pc(fields);
    line.log2_size = 2;
    return good && fields.good() ? MmioLine(line) : MmioMalformed{"an incomplete UNKNOWN"};
}

MmioLine map(std::string_view rest) {
    bool good = true;
    time(word(rest), good);
    Fields fields(rest);
    MmioMap line{};
    line.map = fields.number<std::uint64_t>();
    line.physical = hex(fields);
    line.virt = hex(fields);
    line.size = hex(fields);
    good = good && fields.good() && line.size > 0 && line.physical + line.size > line.physical;
    return good ? MmioLine(line) : MmioMalformed{"an incomplete MAP"};
}

MmioLine unmap(std::string_view rest) {
    bool good = true;
    time(word(rest), good);
    Fields fields(rest);
    const MmioUnmap line{fields.number<std::uint64_t>()};
    return good && fields.good() ? MmioLine(line) : MmioMalformed{"an incomplete UNMAP"};
}

/// The number in "Lost 12 events"; empty if the text is different.
std::string_view lost_events(std::string_view text) {
    constexpr std::string_view lost = "Lost ";
    const std::size_t end =
        std::min(text.find_first_not_of("0123456789", lost.size()), text.size());
    const bool says = text.starts_with(lost) && text.substr(end).starts_with(" events");
    return says ? text.substr(lost.size(), end - lost.size()) : std::string_view{};
}

/// "CPU:0 [LOST 12 EVENTS]" or "CPU:0 [LOST EVENTS]", which ftrace writes for whatever tracer
/// (kernel/trace/trace.c, print_trace_line).
MmioLine lost_by_ftrace(std::string_view text) {
    Fields fields(text);
    fields.expect("CPU:");
    fields.number<std::uint32_t>();
    fields.expect(" [LOST ");
    if (fields.accept("EVENTS]")) {
        return fields.good() && fields.at_end() ? MmioLine(MmioLost{0, false})
                                                : MmioMalformed{"an incomplete line of losses"};
    }
    const MmioLost line{fields.number<std::uint64_t>(), true};
    fields.expect(" EVENTS]");
    return fields.good() && fields.at_end() ? MmioLine(line)
                                            : MmioMalformed{"an incomplete line of losses"};
}

MmioLine mark(std::string_view rest) {
    bool good = true;
    MmioMark line{time(word(rest), good), rest};
    if (const std::string_view count = lost_events(rest); good && !count.empty()) {
        Fields lost(count);
        const MmioLost line{lost.number<std::uint32_t>(), true};
        return lost.good() ? MmioLine(line) : MmioMalformed{"an impossible number of lost events"};
    }
    Fields device(rest);
    if (good && device.accept("device")) {
        MmioDevice named{hex(device), hex(device), {}};
        const std::size_t name = rest.find(' ', rest.find(' ', rest.find(' ') + 1) + 1);
        if (device.good() && device.accept(" ") && named.base + named.size > named.base) {
            named.name = rest.substr(name + 1);
            return named;
        }
    }
    // Quoted by mmioscope's export, to be no such mark.
    if ((rest.starts_with("\"Lost ") || rest.starts_with("\"device ")) && rest.ends_with('"')) {
        line.text = rest.substr(1, rest.size() - 2);
    }
    return good ? MmioLine(line) : MmioMalformed{"a MARK without a time"};
}

// As in /proc/bus/pci/devices: addresses of BARs 0 to 5 and the ROM, with the kind in the low bits,
// then their sizes.
MmioLine pci(std::string_view rest) {
    constexpr unsigned bars = 7;
    const auto next = [&rest](bool& good) {
        Fields field(word(rest));
        const auto number = field.number<std::uint64_t>(16);
        good = good && field.good() && field.at_end();
        return number;
    };
    bool good = true;
    MmioPci line{};
    const std::uint64_t place = next(good);
    line.bus = place >> 8 & 0xff;
    line.function = place & 0xff;
    line.rest = rest;
    line.id = next(good);
    next(good); // skip the interrupt
    std::uint64_t base[bars];
    for (std::uint64_t& b : base) {
        b = next(good);
    }
    for (unsigned i = 0; i < bars; ++i) {
        const std::uint64_t size = next(good);
        const std::uint64_t start = base[i] & ~std::uint64_t{0xf};
        const bool port = (base[i] & 1) != 0 && i != bars - 1;
        if (size > 0 && start != 0 && !port && start + size > start) {
            line.bars.push_back({i, start, size});
        }
    }
    line.driver = word(rest);
    return good ? MmioLine(std::move(line)) : MmioMalformed{"an incomplete PCIDEV"};
}

} // namespace

MmioLine parse_mmiotrace(std::string_view text) {
    if (text.ends_with('\r')) {
        text.remove_suffix(1);
    }
    if (text.empty() || text.starts_with('#')) {
        return MmioNothing{};
    }
    if (text.starts_with("CPU:")) {
        return lost_by_ftrace(text);
    }
    std::string_view rest = text;
    const std::string_view key = word(rest);
    if (key == "R" || key == "W") return access(rest, key == "W");
    if (key == "UNKNOWN") return unknown(rest);
    if (key == "MAP") return map(rest);
    if (key == "UNMAP") return unmap(rest);
    if (key == "MARK") return mark(rest);
    if (key == "PCIDEV") return pci(rest);
    if (key == "LSPCI") return MmioNothing{};
    if (key == "VERSION") {
        return rest == version ? MmioLine(MmioNothing{})
                               : MmioMalformed{"a version other than 20070824"};
    }
    return MmioMalformed{"not a line of mmiotrace"};
}

} // namespace mmioscope::importing
