#include "made_trace.hpp"

#include "file/texts.hpp"
#include "records/module_table.hpp"
#include "records/task_table.hpp"
#include "symbols/section.hpp"
#include "system/error.hpp"

#include <fmt/format.h>
#include <libfdt.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace mmioscope::bench {

namespace {

struct Device {
    const char* name;
    std::uint32_t base;
    const char* compatible;
    std::uint32_t interrupt;                     ///< an SPI; 0: none
    std::array<std::uint32_t, 2> often;          ///< registers: one mostly read, one mostly written
    std::array<std::uint32_t, 4> now_and_then{}; ///< and others
    unsigned share;                              ///< number of 100 events of a boot
};
constexpr unsigned uart = 0, distributor = 1, cpu_interface = 2, card = 3;
constexpr std::array<Device, 7> devices = {{
    {"uart@1c090000", 0x1c09'0000, "arm,pl011", 5, {0x18, 0x00}, {0x30, 0x38, 0x3c, 0x44}, 70},
    {"interrupt-controller@2c001000",
     0x2c00'1000,
     "arm,cortex-a15-gic",
     0,
     {0xf00, 0xf00},
     {4, 0x100, 0x400, 8},
     1},
    {"interrupt-controller@2c001000",
     0x2c00'2000,
     nullptr,
     0,
     {0x0c, 0x10},
     {0x00, 0x04, 0x08, 0x14},
     14},
    {"mmc@1c050000", 0x1c05'0000, "arm,pl180", 9, {0x34, 0x38}, {0x0c, 0x14, 0x2c, 0x3c}, 8},
    {"ethernet@1a000000", 0x1a00'0000, "smsc,lan9118", 15, {0x00, 0x20}, {0x54, 0x58, 0x7c, 4}, 3},
    {"sysreg@1c010000", 0x1c01'0000, "arm,vexpress-sysreg", 0, {0x60, 0xa4}, {0, 8, 0x48, 0xa0}, 3},
    {"rtc@1c170000", 0x1c17'0000, "arm,pl031", 4, {0x00, 0x08}, {0x0c, 0x10, 0x18, 0x1c}, 1},
}};

constexpr std::uint32_t text_base = 0xc010'0000;
constexpr std::uint32_t text_size = 0x00c0'0000;
constexpr std::uint32_t module_base = 0xbf00'0000;
constexpr std::uint32_t module_functions = 64, module_function_size = 0x100;
constexpr std::uint32_t first_task = 0xc200'0000, task_size = 0x1000;
constexpr std::uint32_t tasks = 24; ///< of a boot
constexpr std::uint32_t counter_frequency = 62'500'000;
constexpr std::uint64_t section = 400; ///< records in one section, as from a recorder that keeps up

void ok(int result) {
    if (result != 0) {
        throw failure("cannot make a device tree: {}", fdt_strerror(result));
    }
}

void cells(void* tree, const char* name, std::initializer_list<std::uint32_t> values) {
    std::vector<fdt32_t> all;
    std::transform(values.begin(), values.end(), std::back_inserter(all), cpu_to_fdt32);
    ok(fdt_property(tree, name, all.data(), static_cast<int>(4 * all.size())));
}

std::vector<std::byte> device_tree() {
    std::vector<std::byte> bytes(8192);
    void* const tree = bytes.data();
    ok(fdt_create(tree, static_cast<int>(bytes.size())));
    ok(fdt_finish_reservemap(tree));
    ok(fdt_begin_node(tree, ""));
    cells(tree, "#address-cells", {1});
    cells(tree, "#size-cells", {1});
    cells(tree, "interrupt-parent", {1});
    for (const Device& device : devices) {
        if (device.compatible == nullptr) { // the second range of the previous device
            continue;
        }
        const bool controller = &device == &devices[distributor];
        ok(fdt_begin_node(tree, device.name));
        const std::string_view compatible = device.compatible;
        ok(fdt_property(tree, "compatible", compatible.data(),
                        static_cast<int>(compatible.size() + 1)));
        if (controller) {
            cells(tree, "#interrupt-cells", {3});
            cells(tree, "phandle", {1});
            ok(fdt_property(tree, "interrupt-controller", nullptr, 0));
            cells(tree, "reg", {device.base, 0x1000, devices[cpu_interface].base, 0x1000});
        } else {
            cells(tree, "reg", {device.base, 0x1000});
        }
        if (device.interrupt != 0) {
            cells(tree, "interrupts", {0, device.interrupt, 4});
        }
        ok(fdt_end_node(tree));
    }
    ok(fdt_end_node(tree));
    ok(fdt_finish(tree));
    bytes.resize(fdt_totalsize(tree));
    return bytes;
}

std::vector<abi::RegionEntry> regions() {
    std::vector<abi::RegionEntry> all;
    for (const Device& device : devices) {
        abi::RegionEntry entry{};
        entry.base = device.base;
        entry.size = 0x1000;
        entry.flags = abi::region_traced;
        entry.reg_index = device.compatible == nullptr ? 1 : 0;
        fmt::format("/{}", device.name).copy(entry.path, sizeof entry.path - 1);
        all.push_back(entry);
    }
    return all;
}

class Maker {
public:
    Maker(int fd, Mix mix) : mix_(mix), writer_(fd, progress_) {}

    void run(std::uint64_t events) {
        head();
        for (std::uint64_t n = 0; n < events; ++n) {
            if (n % section == 0) {
                writer_.flush();
                if (mix_ == Mix::fresh) {
                    fresh_tasks(n, std::min(section, events - n));
                }
            }
            put(record(n));
        }
        writer_.flush();
        writer_.values(abi::SectionType::losses, std::span<const abi::Loss>());
        writer_.finish(0, abi::Ending::machine_off);
    }

private:
    // Does not use a distribution of <random>, whose results depend on the library.
    std::uint32_t below(std::uint32_t limit) {
        return static_cast<std::uint32_t>(random_() % limit);
    }

    void head() {
        abi::Info info{};
        info.counter_frequency = counter_frequency;
        info.cpu_count = 2;
        info.record_size = sizeof(abi::Record);
        info.region_size = sizeof(abi::RegionEntry);
        std::string("made-up").copy(info.board, sizeof info.board - 1);
        writer_.values(abi::SectionType::info, std::span<const abi::Info>(&info, 1));
        writer_.section(abi::SectionType::device_tree, device_tree());
        const std::vector<abi::RegionEntry> all = regions();
        writer_.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(all));
        trace::write_about(writer_, {"kernel=made-up\n", symbols::pack(functions()), {}});
        const std::string module = module_lines();
        writer_.section(trace::modules_section, std::as_bytes(std::span(module)));
        for (std::uint32_t i = 0; mix_ != Mix::fresh && i < tasks; ++i) {
            known_tasks_.push_back(task(i));
        }
        writer_.values(trace::tasks_section, std::span<const trace::TaskEntry>(known_tasks_));
    }

    // Includes symbols that are not functions, and several names at one address, as in a kernel.
    symbols::SymbolList functions() {
        static constexpr const char* first[] = {"pl011", "gic", "mmci", "smsc911x", "sched",
                                                "vfs",   "tcp", "clk",  "of",       "irq"};
        static constexpr const char* second[] = {
            "read", "console_write", "handle", "enable_locked",
            "tx",   "get",           "probe",  "__update_state"};
        symbols::SymbolList list;
        for (std::uint32_t at = text_base; at < text_base + text_size;) {
            const auto number = static_cast<unsigned>(list.size());
            const std::string name = fmt::format("{}_{}_{:x}", first[below(std::size(first))],
                                                 second[below(std::size(second))], number);
            list.push_back({at, number % 16 == 0 ? 'd' : number % 2 == 0 ? 't' : 'T', name, ""});
            if (number % 32 == 0) {
                list.push_back({at, 'T', "sys_" + name, ""});
            }
            at += 4 * (4 + below(text_size / 4 / 2500));
        }
        return list;
    }

    std::string module_lines() {
        const std::uint32_t size = module_functions * module_function_size;
        std::string lines = fmt::format("module armmmci {:x} {} live 0\ntext {:x} {}\n",
                                        module_base, 2 * size, module_base, size);
        for (std::uint32_t i = 0; i < module_functions; ++i) {
            lines +=
                fmt::format("{:x} t mmci_function_{}\n", module_base + i * module_function_size, i);
        }
        return lines;
    }

    static std::uint32_t address_of_task(std::uint32_t number) {
        return first_task + number * task_size;
    }
    static trace::TaskEntry task(std::uint32_t number, std::uint64_t time = 0) {
        trace::TaskEntry entry{time, address_of_task(number), trace::TaskKey::task, number, number,
                               {}};
        fmt::format("task-{:x}", number).copy(entry.comm, sizeof entry.comm - 1);
        return entry;
    }

    // Entries precede the records that they apply to.
    void fresh_tasks(std::uint64_t from, std::uint64_t count) {
        known_tasks_.clear();
        for (std::uint64_t n = from; n < from + count; ++n) {
            known_tasks_.push_back(task(static_cast<std::uint32_t>(n), time_of(n)));
        }
        writer_.values(trace::tasks_section, std::span<const trace::TaskEntry>(known_tasks_));
    }

    static std::uint64_t time_of(std::uint64_t n) { return 1'000'000 + n * 3'700; }

    abi::Record record(std::uint64_t n) {
        abi::Record r{};
        r.type = abi::RecordType::access;
        r.mode = 0x13;
        r.cpu = static_cast<std::uint8_t>(below(8) == 0);
        r.time = time_of(n);
        r.duration = 20 + below(2'000);
        r.sp = 0xe0f4'1d00;
        switch (mix_) {
        case Mix::boot: of_boot(r); break;
        case Mix::sd: of_sd(r, n); break;
        case Mix::fresh: of_fresh(r, static_cast<std::uint32_t>(n)); break;
        }
        return r;
    }

    void place(abi::Record& r, unsigned device, std::uint32_t offset, bool write) {
        r.access = abi::encode_access(write, 2) | abi::access_syndrome;
        r.device = static_cast<std::uint16_t>(device);
        r.pa_low = devices[device].base + offset;
        r.va = 0xf000'0000 | (r.device << 12) | (r.pa_low & 0xfff);
    }

    void of_boot(abi::Record& r) {
        unsigned device = 0;
        for (unsigned percent = below(100), end = devices[0].share; percent >= end;
             end += devices[++device].share) {
        }
        const Device& chosen = devices[device];
        const unsigned what = below(32);
        const bool write = what % 2 == 1;
        place(r, device, what < 30 ? chosen.often[what % 2] : chosen.now_and_then[below(4)], write);
        r.value = device == cpu_interface ? 37 + below(6) : write ? below(128) : 0x90;
        const bool in_module = device == card && below(2) == 0;
        r.pc = in_module ? module_base + 4 * below(40)
                         : text_base + 0x4'0000 * (device + 1) + 4 * below(64);
        r.lr = text_base + 0x8000 * (device + 1) + 4 * below(8);
        r.task = address_of_task(below(tasks));
        if (below(4) == 0) { // LR was data
            caller_ = r.lr;
            r.lr = below(UINT32_MAX);
        }
    }

    // As in an interrupt: reads half a FIFO at a time with four loads, the last one to LR.
    void of_sd(abi::Record& r, std::uint64_t n) {
        const unsigned step = static_cast<unsigned>(n % 12);
        const std::uint32_t copy = text_base + 0x10'0000;
        r.cpu = 0;
        r.task = address_of_task(below(2) == 0 ? 0 : below(tasks));
        if (step == 0 || step == 11) {
            place(r, cpu_interface, step == 0 ? 0x0c : 0x10, step != 0);
            r.value = 41;
            r.pc = text_base + 0x2'0000 + 4 * step;
            r.lr = text_base + 0x3'0000;
        } else if (step < 3) {
            place(r, card, step == 1 ? 0x34 : 0x48, false);
            r.value = step == 1 ? 0x22'a400 : 0x1000 - n % 0x1000;
            r.pc = module_base + 0x40 * step;
            r.lr = step == 1 ? text_base + 0x4'0000 : data_;
        } else {
            place(r, card, 0x80, false);
            r.value = below(UINT32_MAX);
            r.pc = copy + 0x1c + 4 * (step % 4);
            r.lr = data_;
            data_ = step % 4 == 2 ? static_cast<std::uint32_t>(r.value) : data_;
        }
    }

    // Multiples of an odd number modulo a power of two are all different.
    void of_fresh(abi::Record& r, std::uint32_t n) {
        const unsigned device = n % devices.size();
        place(r, device, 4 * (n % 64), below(2) == 0);
        r.va = 0xe000'0000 + ((n * 0x1000) & 0x1fff'f000) + (r.pa_low & 0xfff);
        r.value = n * 2'654'435'761u;
        r.pc = text_base + 4 * ((n * 40'503u) % (text_size / 4));
        r.lr = text_base + 4 * ((n * 30'011u + 77) % (text_size / 4));
        r.task = address_of_task(n);
    }

    void put(abi::Record r) {
        r.cpu_sequence = sequence_[r.cpu]++;
        r.commit = r.cpu_sequence + 1;
        r.lock_sequence = order_[r.device]++;
        const trace::Caller caller = std::exchange(caller_, trace::lr_holds);
        writer_.append(std::span(&r, 1), caller == trace::lr_holds
                                             ? std::span<const trace::Caller>()
                                             : std::span(&caller, 1));
    }

    Mix mix_;
    trace::WriteProgress progress_;
    trace::FileWriter writer_;
    trace::Caller caller_ = trace::lr_holds; ///< of the next record
    std::mt19937 random_{5489};
    std::vector<trace::TaskEntry> known_tasks_;
    std::array<std::uint32_t, 2> sequence_{};
    std::array<std::uint32_t, devices.size()> order_{};
    std::uint32_t data_ = 0; ///< read last
};

} // namespace

std::optional<Mix> mix_of(std::string_view name) {
    return name == "boot"    ? std::optional(Mix::boot)
           : name == "sd"    ? std::optional(Mix::sd)
           : name == "fresh" ? std::optional(Mix::fresh)
                             : std::nullopt;
}

void write_trace(int fd, Mix mix, std::uint64_t events) {
    Maker(fd, mix).run(events);
}

} // namespace mmioscope::bench
