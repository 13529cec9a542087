#include "import/mmiotrace_line.hpp"

#include "import/importing.hpp"
#include "import/text_lines.hpp"

#include <algorithm>

namespace mmioscope::importing {

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
