// The text of Linux' mmiotrace, version 20070824 (Documentation/trace/mmiotrace.rst).
#include "export/formats.hpp"

#include "analysis/pci.hpp"
#include "export/columns.hpp"
#include "file/trace_reader.hpp"
#include "import/importing.hpp"
#include "reading/drive.hpp"
#include "records/kinds.hpp"
#include "records/ticks.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <string>

namespace mmioscope::exporting {

using abi::RecordType;

namespace {

constexpr std::uint64_t page_size = 4096;
// Number of a page without a known virtual address: no virtual page has this bit.
constexpr std::uint64_t physical_number = 1ull << 40;

std::uint64_t page_of(std::uint64_t address) {
    return address & ~(page_size - 1);
}

// A mark is one line.
std::string one_line(std::string_view text) {
    std::string line(text);
    for (char& c : line) {
        c = static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return line;
}

// Undoes \xNN (records/module_mark.cpp), so that the import makes the same marker. What it would
// take for a loss or a device gets quotes.
std::string mark_text(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        const char* const digits = text.data() + i + 2;
        if (text.substr(i).starts_with("\\x") && i + 4 <= text.size() &&
            std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
            plain += value == '\n' || value == '\r' ? ' ' : static_cast<char>(value);
            i += 3;
        } else {
            plain += text[i];
        }
    }
    const bool special = plain.starts_with("Lost ") || plain.starts_with("device ");
    return special ? '"' + plain + '"' : plain;
}

/// Whether one of the trace's devices is the configuration space of a PCI host bridge.
bool has_pci(const trace::TraceReader& reader) {
    for (std::size_t i = 0; i < reader.regions().size(); ++i) {
        if (analysis::is_pci_configuration(reader.names()[static_cast<std::uint16_t>(i)])) {
            return true;
        }
    }
    return false;
}

/// The functions that the accesses to it show. Reads the file at `path` and, without `one_file`,
/// the files after it; only the head if the trace has no such device. Throws Error (bad_input) if
/// it is not a trace. Does not report damage: that is done when the events are read.
std::vector<analysis::PciFunction> pci_functions(const std::string& path, bool one_file) {
    reading::TraceOptions options;
    options.path = path;
    options.one_file = one_file;
    options.report = [](const std::string&) {};
    reading::Trace trace(options);
    analysis::Pci pci;
    if (has_pci(trace.reader())) {
        reading::drive(trace, {&pci});
    }
    return pci.functions();
}

/// A PCIDEV line, as in /proc/bus/pci/devices, with its line end. The driver is empty: it is
/// unknown.
std::string pci_line(const analysis::PciFunction& function) {
    std::string line = fmt::format("PCIDEV {:04x} {:04x}{:04x} {:x}", function.place,
                                   function.vendor, function.device, function.interrupt);
    for (const analysis::PciRange& range : function.ranges) {
        line += fmt::format(" {:x}", range.base | range.kind);
    }
    for (const analysis::PciRange& range : function.ranges) {
        line += fmt::format(" {:x}", range.size);
    }
    return line + " \n";
}

/// The PCIDEV lines that an import kept in the trace's text (import/mmiotrace.cpp).
std::vector<std::string> kept_pci_lines(const trace::TraceReader& reader) {
    std::vector<std::string> lines;
    for (const auto& [key, value] : reader.text()) {
        if (key.starts_with(importing::pci_key)) {
            lines.push_back(
                fmt::format("PCIDEV {} {}\n", key.substr(importing::pci_key.size()), value));
        }
    }
    return lines;
}

class Mmiotrace : public Exporter {
public:
    explicit Mmiotrace(Sink& sink) : sink_(sink) {}

    void look_ahead(const std::string& path, bool one_file) override {
        pci_ = pci_functions(path, one_file);
    }

    // mmiotrace knows only PCI devices; name the others by marks, which the import reads.
    void begin(const trace::TraceReader& reader) override {
        sink_.put("VERSION 20070824\n");
        add_pci(reader);
        absolute_ = importing::has_clock_of_printk(reader.text()) && reader.info();
        frequency_ = absolute_ ? reader.info()->counter_frequency : 0;
        pc_high_ = std::uint64_t{importing::pc_high(reader.text())} << 32;
        const auto to = std::back_inserter(sink_.text());
        for (std::size_t i = 0; i < reader.regions().size(); ++i) {
            const abi::RegionEntry& region = reader.regions()[i];
            fmt::format_to(to, "MARK 0.000000 device {:#x} {:#x} {}\n", region.base, region.size,
                           one_line(reader.names()[static_cast<std::uint16_t>(i)]));
        }
    }

    void add(const Event& event) override {
        switch (event.record.type) {
        case RecordType::access:
            add_access(event);
            if (event.text_id() != no_id) {
                add_mark(event);
            }
            break;
        case RecordType::gap:
        case RecordType::marker:
        case RecordType::configuration:
        case RecordType::power:
        case RecordType::fault: add_mark(event); break;
        default: ++others_; break;
        }
        sink_.settle();
    }

    void finish() override { sink_.flush(); }

    std::vector<std::string> left_out() const override {
        std::string line =
            "mmiotrace cannot hold CPU, duration, register name, function and payload of an access";
        if (unknown_ > 0) {
            line += fmt::format("; {} without a value are UNKNOWN, without size and direction",
                                unknown_);
        }
        if (wide_ > 0) {
            line += fmt::format("; {} have more than 8 bytes, which readers may not expect", wide_);
        }
        if (others_ > 0) {
            line += fmt::format("; {} records that are not accesses by the guest are left out",
                                others_);
        }
        if (estimated_ > 0) {
            line += fmt::format("; the times of {} are estimates", estimated_);
        }
        if (pci_missing_) {
            line += "; PCI functions (PCIDEV) need a file, not a pipe";
        }
        return {line};
    }

private:
    /// "12.000345"
    struct Time {
        std::uint64_t seconds;
        std::uint64_t micros;
    };

    Time time_of(const Event& event) const {
        const std::uint64_t micros =
            (absolute_ ? trace::nanoseconds(event.record.time, frequency_) : event.nanoseconds) /
            1000;
        return {micros / 1'000'000, micros % 1'000'000};
    }

    std::uint64_t pc_of(const abi::Record& record) const {
        return record.pc == 0 ? 0 : pc_high_ | record.pc;
    }

    // PCIDEV lines kept by an import take precedence over what accesses to a configuration space
    // show.
    void add_pci(const trace::TraceReader& reader) {
        const std::vector<std::string> kept = kept_pci_lines(reader);
        for (const std::string& line : kept) {
            sink_.put(line);
        }
        if (kept.empty() && pci_) {
            for (const analysis::PciFunction& function : *pci_) {
                sink_.put(pci_line(function));
            }
        }
        pci_missing_ = kept.empty() && !pci_ && has_pci(reader);
    }

    void add_access(const Event& event) {
        const abi::Record& r = event.record;
        const std::uint64_t map = mapping(event);
        const auto [seconds, micros] = time_of(event);
        const unsigned pid = event.task() == nullptr ? 0 : event.task()->pid;
        const auto to = std::back_inserter(sink_.text());
        wide_ += abi::access_size(r) > 8 ? 1 : 0;
        estimated_ += (r.flags & abi::flag_estimated) != 0 ? 1 : 0;
        if (!has_bus_value(r)) {
            ++unknown_;
            fmt::format_to(to, "UNKNOWN {}.{:06} {} {:#x} 00,00,00 {:#x} {}\n", seconds, micros,
                           map, abi::physical_address(r), pc_of(r), pid);
            return;
        }
        fmt::format_to(to, FMT_COMPILE("{} {} {}.{:06} {} {:#x} {:#x} {:#x} {}\n"),
                       abi::is_write(r) ? 'W' : 'R', abi::access_size(r), seconds, micros, map,
                       abi::physical_address(r), r.value, pc_of(r), pid);
    }

    void add_mark(const Event& event) {
        const abi::Record& r = event.record;
        if (r.type == RecordType::marker && event.text().empty()) {
            return; // the text's end follows
        }
        const auto [seconds, micros] = time_of(event);
        const auto to = std::back_inserter(sink_.text());
        fmt::format_to(to, "MARK {}.{:06} ", seconds, micros);
        if (r.type == RecordType::gap) {
            fmt::format_to(to, "Lost {} events. cpu {} sequence {}\n", r.value, r.cpu,
                           r.cpu_sequence);
        } else if (r.type == RecordType::marker || r.type == RecordType::access) {
            fmt::format_to(to, "{}\n",
                           r.type == RecordType::marker ? mark_text(plain_text(event.text()))
                                                        : one_line(event.text()));
        } else if (trace::has_place(r.type)) {
            fmt::format_to(to, "{} {:#x} {}\n", type_word(r.type), abi::physical_address(r),
                           one_line(event.text()));
        } else {
            fmt::format_to(to, "{} {} cpu {} value {:#x}\n", type_word(r.type),
                           one_line(event.text()), r.cpu, r.value);
        }
    }

    // The id of the mapping that the access uses; writes a new one's line.
    std::uint64_t mapping(const Event& event) {
        const abi::Record& r = event.record;
        const std::uint64_t page = page_of(abi::physical_address(r));
        const std::uint64_t number =
            (r.va == 0 ? physical_number | page : std::uint64_t{r.va}) / page_size;
        const auto known = mappings_.find(number);
        if (known != mappings_.end()) {
            if (known->second.page == page) {
                return known->second.id;
            }
            unmap(event, known->second.id);
        } else if (mappings_.size() == most_mappings) {
            for (const auto& [other, mapping] : mappings_) {
                unmap(event, mapping.id);
            }
            mappings_.clear();
        }
        mappings_[number] = {page, ++ids_};
        const auto [seconds, micros] = time_of(event);
        fmt::format_to(std::back_inserter(sink_.text()),
                       "MAP {}.{:06} {} {:#x} {:#x} {:#x} 0x0 0\n", seconds, micros, ids_, page,
                       page_of(r.va), page_size);
        return ids_;
    }

    struct Mapping {
        std::uint64_t page; ///< physical
        std::uint64_t id;
    };

    void unmap(const Event& event, std::uint64_t id) {
        const auto [seconds, micros] = time_of(event);
        fmt::format_to(std::back_inserter(sink_.text()), "UNMAP {}.{:06} {} 0x0 0\n", seconds,
                       micros, id);
        sink_.settle();
    }

    static constexpr std::size_t most_mappings = 4096; ///< more end all

    Sink& sink_;
    std::map<std::uint64_t, Mapping> mappings_; ///< by virtual page; without one, the physical
    std::uint64_t ids_ = 0;
    bool absolute_ = false;       ///< times are the log's own, which the trace was imported from
    std::uint32_t frequency_ = 0; ///< of its clock, Hz
    std::uint64_t pc_high_ = 0;   ///< bits 63:32 of the addresses of code
    std::optional<std::vector<analysis::PciFunction>> pci_; ///< nothing: not looked for
    bool pci_missing_ = false;    ///< there may be some, but they were not looked for
    std::uint64_t estimated_ = 0; ///< accesses whose time is an estimate
    std::uint64_t unknown_ = 0;   ///< accesses without a value
    std::uint64_t wide_ = 0;      ///< accesses of more than 8 bytes
    std::uint64_t others_ = 0;    ///< records that are neither accesses of the guest nor text
};

} // namespace

std::unique_ptr<Exporter> make_mmiotrace(Sink& sink) {
    return std::make_unique<Mmiotrace>(sink);
}

} // namespace mmioscope::exporting
