// Traces with everything that can change names, in any order, and an event's names in one line.
#pragma once

#include "abi/control.hpp"
#include "abi/task_name.hpp"
#include "file/texts.hpp"
#include "mmioscope/event.hpp"
#include "records.hpp"
#include "records/callers.hpp"
#include "records/module_mark.hpp"
#include "records/module_table.hpp"
#include "records/task_table.hpp"
#include "symbols/section.hpp"
#include "tree_maker.hpp"

#include <fmt/format.h>

#include <cstring>
#include <random>

namespace mmioscope::test {

inline constexpr std::uint32_t uart = 0x1c28'0000;
inline constexpr std::uint32_t lcr = uart + 0xc;
inline constexpr std::uint32_t gic = 0x1c82'0000;
inline constexpr std::uint32_t kernel = 0xc000'0000;
inline constexpr std::uint32_t modules = 0xbf00'0000;
inline constexpr std::uint32_t task = 0xc200'0000;

/// A UART whose registers depend on LCR.DLAB, a GIC, and something without a description.
inline std::vector<std::byte> board_tree() {
    return make_tree([](TreeMaker& make) {
        make.cells(1, 1);
        make.numbers("interrupt-parent", {1});
        make.node("serial@1c28000", [&] {
            make.strings("compatible", {"snps,dw-apb-uart"});
            make.numbers("reg", {uart, 0x1000});
            make.numbers("interrupts", {0, 5, 4});
        });
        make.node("gic@1c81000", [&] {
            make.strings("compatible", {"arm,gic-400"});
            make.numbers("phandle", {1});
            make.numbers("#interrupt-cells", {3});
            make.numbers("reg", {gic - 0x1000, 0x1000, gic, 0x2000});
        });
    });
}

inline std::vector<abi::RegionEntry> board_regions() {
    std::vector<abi::RegionEntry> regions = {
        region(gic - 0x1000, 0x1000, "/gic@1c81000"), region(gic, 0x2000, "/gic@1c81000"),
        region(0x2000'0000, 0x1000'0000, "/thing"), region(uart, 0x1000, "/serial@1c28000")};
    regions[1].reg_index = 1;
    return regions;
}

inline abi::Record at(std::uint16_t device, std::uint32_t address, bool write = false,
                      std::uint64_t value = 0) {
    abi::Record record = access(0, 0, 0);
    record.device = device;
    record.access = abi::encode_access(write, 2);
    record.value = value;
    record.pa_low = address;
    record.task = task;
    return record;
}

inline void append(trace::FileWriter& writer, const abi::Record& record) {
    writer.append(std::span(&record, 1));
}

inline void append_text(trace::FileWriter& writer, abi::SectionType type, const std::string& text) {
    writer.flush();
    writer.section(type, std::as_bytes(std::span(text)));
}

inline void append_task(trace::FileWriter& writer, std::uint64_t time, std::uint32_t key,
                        trace::TaskKey kind, std::uint32_t pid, const std::string& comm) {
    trace::TaskEntry entry{time, key, kind, pid, pid, {}};
    comm.copy(entry.comm, sizeof entry.comm);
    writer.flush();
    writer.values(trace::tasks_section, std::span<const trace::TaskEntry>(&entry, 1));
}

/// A function every 256 bytes, in 16 MiB.
inline symbols::SymbolList functions() {
    symbols::SymbolList all;
    for (std::uint32_t offset = 0; offset < 16u << 20; offset += 0x100) {
        all.push_back({kernel + offset, 't', fmt::format("f_{:x}", offset >> 8), ""});
    }
    all.push_back({kernel + (16u << 20), 'D', "_etext", ""});
    return all;
}

inline std::string text(const Location* location) {
    return location == nullptr ? "-"
                               : fmt::format("{}+{:#x}[{}]", location->function, location->offset,
                                             location->module);
}

/// All of an event's names, in one line.
inline std::string names_of(const Event& event) {
    return fmt::format(
        "{}+{:#x} {} {} < {} {} <{}> {}", event.device(), event.offset(),
        event.reg() == nullptr ? "-" : event.reg()->name, text(event.code()), text(event.caller()),
        event.task() == nullptr ? "-" : fmt::format("{}:{}", event.task()->comm, event.task()->pid),
        event.interrupt(), event.text());
}

using Random = std::mt19937;

inline std::uint32_t below(Random& random, std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
}

/// A trace with everything that can change a record's names, in any order.
class RandomTrace {
public:
    RandomTrace(unsigned seed, std::uint32_t records, bool other_devices = true)
        : random_(seed), other_devices_(other_devices) {
        bytes = trace_bytes([&](trace::FileWriter& writer) {
            write_info(writer);
            write_regions(writer, board_regions());
            writer.section(abi::SectionType::device_tree, board_tree());
            trace::write_about(writer, {"", symbols::pack(functions()), {}});
            while (made_ < records) {
                learn(writer);
                for (std::uint32_t i = below(random_, 600); i > 0; --i) {
                    add(writer);
                }
            }
            writer.finish(0, abi::Ending::machine_off);
        });
    }

    std::vector<std::byte> bytes;

private:
    // Writes what may be between two sections of records.
    void learn(trace::FileWriter& writer) {
        switch (below(random_, 6)) {
        case 0: {
            const std::uint32_t base = any_module();
            append_text(writer, trace::modules_section,
                        fmt::format("module m{} {:x} 65536 live {}\ntext {:x} {}\n{:x} t a [m]\n"
                                    "{:x} t b [m]\n",
                                    made_, base, time_ + below(random_, 300) - 50, base,
                                    below(random_, 70'000), base, base + below(random_, 60'000)));
            break;
        }
        case 1:
            append_task(writer, time_, any_task(),
                        below(random_, 2) == 0 ? trace::TaskKey::task : trace::TaskKey::stack,
                        made_, fmt::format("t{}", below(random_, 4)));
            break;
        case 2: {
            writer.flush();
            caller_first_ = made_ + below(random_, 10);
            caller_count_ = 1 + below(random_, 100);
            caller_ = any_code();
            break;
        }
        case 3:
            if (below(random_, 8) == 0 && other_devices_) { // other devices, or fewer
                std::vector<abi::RegionEntry> regions = board_regions();
                regions.resize(1 + below(random_, 4));
                writer.flush();
                write_regions(writer, regions);
            }
            break;
        default: writer.flush();
        }
    }

    void add(trace::FileWriter& writer) {
        const std::uint32_t kind = below(random_, 200);
        if (kind == 0) {
            mark(writer);
            return;
        }
        abi::Record record = kind == 1 ? named_task() : any_access();
        record.time = time_ += below(random_, 3);
        record.time -= below(random_, 20) == 0 ? std::min<std::uint64_t>(record.time, 30) : 0;
        record.cpu_sequence = made_++;
        if (record.cpu_sequence - caller_first_ < caller_count_) {
            writer.append(std::span(&record, 1), std::span(&caller_, 1));
        } else {
            append(writer, record);
        }
    }

    // The guest tells of a module, in pieces.
    void mark(trace::FileWriter& writer) {
        std::string said = trace::module_mark(fmt::format("told{}", below(random_, 9)),
                                              any_module(), 1 + below(random_, 70'000));
        said.resize((said.size() + 8) / 8 * 8);
        for (std::size_t i = 0; i < said.size(); i += 8) {
            abi::Record record = access(0, made_++, time_);
            record.type = abi::RecordType::marker;
            record.device = abi::no_device;
            record.pa_low = static_cast<std::uint32_t>(abi::control::Command::marker_text) |
                            std::uint32_t{next_mark_++} << 16;
            std::memcpy(&record.value, said.data() + i, 8);
            append(writer, record);
            if (below(random_, 4) == 0) {
                writer.flush();
            }
        }
        next_mark_ = static_cast<std::uint16_t>(next_mark_ + 5);
    }

    abi::Record named_task() {
        abi::Record record{};
        record.type = abi::RecordType::task;
        record.device = abi::no_device;
        record.task = any_task();
        abi::TaskName name{below(random_, 9), 1, {}};
        fmt::format("said{}", below(random_, 3)).copy(name.comm, sizeof name.comm);
        abi::set_task_name(record, name);
        return record;
    }

    abi::Record any_access() {
        abi::Record record = access(0, 0, 0);
        const std::uint32_t type = below(random_, 100);
        record.type = type < 90 ? abi::RecordType::access : static_cast<abi::RecordType>(type - 89);
        record.access = static_cast<std::uint8_t>(below(random_, 16));
        record.mode = below(random_, 9) == 0 ? 0x10 : 0x13;
        record.flags = below(random_, 9) == 0 ? abi::flag_value_unknown : std::uint8_t{0};
        place(record);
        record.pc = any_code();
        record.lr = any_code();
        record.task = any_task();
        record.sp = any_task() + below(random_, 0x2000);
        return record;
    }

    void place(abi::Record& record) {
        switch (below(random_, 8)) {
        case 0: // LCR, or a neighbour
            record.device = 3;
            record.pa_low = lcr + 4 * below(random_, 2);
            record.value = below(random_, 256);
            return;
        case 1:
        case 2:
            record.device = 3;
            record.pa_low = uart + below(random_, 16);
            return;
        case 3: // GICC_IAR and its neighbours
            record.device = 1;
            record.pa_low = gic + 8 + 4 * below(random_, 3);
            record.value = below(random_, 50);
            return;
        case 4: record.device = static_cast<std::uint16_t>(random_()); break;
        default: record.device = static_cast<std::uint16_t>(below(random_, 5)); break;
        }
        abi::set_physical_address(record, 0x2000'0000 + 4 * below(random_, 1u << 26));
    }

    std::uint32_t any_task() { return task + 0x2000 * below(random_, 6); }
    std::uint32_t any_module() { return modules + 0x4000 * below(random_, 16); }
    std::uint32_t any_code() {
        switch (below(random_, 5)) {
        case 0: return modules + 0x1000 * below(random_, 0x50) + 4 * below(random_, 2);
        case 1: return static_cast<std::uint32_t>(random_());
        case 2: return below(random_, 2);
        default: return kernel + below(random_, 16u << 20);
        }
    }

    Random random_;
    bool other_devices_; ///< the trace may change its devices
    std::uint32_t made_ = 0;
    // This many records from there on have this caller.
    std::uint32_t caller_first_ = 0;
    std::uint32_t caller_count_ = 0;
    trace::Caller caller_ = 0;
    std::uint64_t time_ = 1'000;
    std::uint16_t next_mark_ = 0;
};

} // namespace mmioscope::test
