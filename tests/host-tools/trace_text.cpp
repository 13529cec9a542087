#include "trace_text.hpp"

#include "file/console_text.hpp"
#include "file/file_writer.hpp"
#include "file/texts.hpp"
#include "records/task_table.hpp"
#include "symbols/section.hpp"

#include <fmt/format.h>
#include <libfdt.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <sstream>
#include <stdexcept>

namespace mmioscope::test {

namespace {

using abi::Record;
using Numbers = std::map<std::string, std::function<void(Record&, std::uint64_t)>>;

std::uint64_t number(const std::string& text) {
    std::size_t used = 0;
    const std::uint64_t value = std::stoull(text, &used, 0);
    if (used != text.size()) {
        throw std::runtime_error("no number: " + text);
    }
    return value;
}

std::uint64_t number(std::istream& in) {
    std::string word;
    if (!(in >> word)) {
        throw std::runtime_error("a number is missing");
    }
    return number(word);
}

const Numbers& members() {
    static const Numbers all = {
        {"type", [](Record& r, std::uint64_t n) { r.type = static_cast<abi::RecordType>(n); }},
        {"pc", [](Record& r, std::uint64_t n) { r.pc = static_cast<std::uint32_t>(n); }},
        {"lr", [](Record& r, std::uint64_t n) { r.lr = static_cast<std::uint32_t>(n); }},
        {"sp", [](Record& r, std::uint64_t n) { r.sp = static_cast<std::uint32_t>(n); }},
        {"va", [](Record& r, std::uint64_t n) { r.va = static_cast<std::uint32_t>(n); }},
        {"pa", [](Record& r, std::uint64_t n) { abi::set_physical_address(r, n); }},
        {"task", [](Record& r, std::uint64_t n) { r.task = static_cast<std::uint32_t>(n); }},
        {"value", [](Record& r, std::uint64_t n) { r.value = n; }},
        {"mode", [](Record& r, std::uint64_t n) { r.mode = static_cast<std::uint8_t>(n); }},
        {"flags", [](Record& r, std::uint64_t n) { r.flags = static_cast<std::uint8_t>(n); }},
        {"access", [](Record& r, std::uint64_t n) { r.access = static_cast<std::uint8_t>(n); }},
        {"duration",
         [](Record& r, std::uint64_t n) { r.duration = static_cast<std::uint32_t>(n); }},
        {"sequence",
         [](Record& r, std::uint64_t n) { r.cpu_sequence = static_cast<std::uint32_t>(n); }}};
    return all;
}

const std::map<std::string, abi::RecordType>& types() {
    using abi::RecordType;
    static const std::map<std::string, RecordType> all = {
        {"gap", RecordType::gap},
        {"marker", RecordType::marker},
        {"configuration", RecordType::configuration},
        {"interrupt", RecordType::interrupt},
        {"fault", RecordType::fault},
        {"power", RecordType::power},
        {"call", RecordType::call},
        {"ret", RecordType::ret},
        {"hits", RecordType::hits},
        {"move", RecordType::move}};
    return all;
}

class Reader {
public:
    TraceText text;

    void line(const std::string& line) {
        std::istringstream in(line.substr(0, line.find('#')));
        std::string word;
        if (!(in >> word)) {
            return;
        }
        if (word == "frequency") {
            text.frequency = static_cast<std::uint32_t>(number(in));
        } else if (word == "device") {
            device(in);
        } else if (word == "register") {
            reg(in);
        } else if (word == "code") {
            code(in);
        } else if (word == "variable") {
            const auto address = static_cast<std::uint32_t>(number(in));
            in >> text.variables[address];
        } else if (word == "task") {
            task(in);
        } else if (word == "about") {
            std::string line;
            std::getline(in >> std::ws, line);
            text.about += line + "\n";
        } else if (word == "option") {
            while (in >> word) {
                text.options.insert(word);
            }
        } else if (word == "interrupt") {
            in >> word;
            text.interrupts[word] = static_cast<std::uint32_t>(number(in));
        } else if (word == "text") {
            characters(in);
        } else if (word == "console") {
            double seconds = 0;
            in >> seconds >> std::ws;
            std::getline(in, word);
            text.console.emplace_back(std::llround(seconds * text.frequency), unescaped(word));
        } else {
            record(word, in);
        }
    }

private:
    void device(std::istream& in) {
        std::string name;
        in >> name;
        abi::RegionEntry entry{};
        entry.base = number(in);
        entry.size = number(in);
        entry.flags = abi::region_traced;
        if (const std::size_t bracket = name.find('['); bracket != std::string::npos) {
            entry.reg_index = static_cast<std::uint16_t>(std::stoul(name.substr(bracket + 1)));
            name.resize(bracket);
        }
        ("/" + name).copy(entry.path, sizeof entry.path - 1);
        text.regions.push_back(entry);
        in >> text.compatible.emplace_back();
    }

    static Field field(const std::string& word) {
        Field field;
        const std::size_t colon = word.find(':');
        const std::size_t equals = std::min(word.find('='), word.size());
        const std::string bits = word.substr(colon + 1, equals - colon - 1);
        field.name = word.substr(0, colon);
        field.low = static_cast<unsigned>(number(bits.substr(0, bits.find('+'))));
        if (const std::size_t plus = bits.find('+'); plus != std::string::npos) {
            field.width = static_cast<unsigned>(number(bits.substr(plus + 1)));
        }
        std::istringstream words(equals < word.size() ? word.substr(equals + 1) : "");
        std::string name;
        for (std::uint64_t value = 0; std::getline(words, name, ','); ++value) {
            field.values.emplace_back(value, name);
        }
        return field;
    }

    void reg(std::istream& in) {
        std::string device;
        in >> device;
        Register reg;
        reg.offset = number(in);
        in >> reg.name;
        for (std::string word; in >> word;) {
            reg.fields.push_back(field(word));
        }
        text.registers[{device, reg.offset}] = reg;
    }

    void code(std::istream& in) {
        const auto address = static_cast<std::uint32_t>(number(in));
        TraceText::Code code{static_cast<std::uint32_t>(number(in)), {}};
        in >> code.location.function >> code.location.module;
        text.code[address] = code;
    }

    void task(std::istream& in) {
        const auto pointer = static_cast<std::uint32_t>(number(in));
        Task task;
        task.pid = task.tgid = static_cast<std::uint32_t>(number(in));
        in >> task.comm;
        if (std::string tgid; in >> tgid) {
            task.tgid = static_cast<std::uint32_t>(number(tgid));
        }
        text.tasks[pointer] = task;
    }

    Record at(const std::string& time, std::istream& in) {
        std::string cpu;
        in >> cpu;
        Record record{};
        record.type = abi::RecordType::access;
        record.mode = 0x13;
        record.duration = 1;
        record.time = static_cast<std::uint64_t>(std::llround(std::stod(time) * text.frequency));
        record.cpu = static_cast<std::uint8_t>(number(cpu.substr(3)));
        return record;
    }

    void record(const std::string& time, std::istream& in) {
        Record record = at(time, in);
        std::string kind;
        in >> kind;
        if (const auto type = types().find(kind); type != types().end()) {
            record.type = type->second;
        } else {
            const std::uint64_t size = number(kind.substr(1));
            record.access =
                abi::encode_access(kind[0] == 'W', static_cast<unsigned>(std::bit_width(size)) - 1);
            abi::set_physical_address(record, number(in));
            std::string value;
            in >> value;
            record.flags = value == "?" ? abi::flag_value_unknown : std::uint8_t{0};
            record.value = value == "?" ? 0 : number(value);
        }
        record.cpu_sequence = sequence_[record.cpu];
        for (std::string word; in >> word;) {
            const std::size_t equals = word.find('=');
            members().at(word.substr(0, equals))(record, number(word.substr(equals + 1)));
        }
        add(record);
    }

    static std::string unescaped(std::string string) {
        for (const auto& [word, meant] : {std::pair("\\n", "\r\n"), std::pair("\\e", "\x1b")}) {
            for (std::size_t at = string.find(word); at != std::string::npos;
                 at = string.find(word)) {
                string.replace(at, 2, meant);
            }
        }
        return string;
    }

    void characters(std::istream& in) {
        std::string time;
        std::string device;
        std::string string;
        in >> time;
        Record record = at(time, in);
        in >> device >> std::ws;
        std::getline(in, string);
        const auto is_it = [&](const abi::RegionEntry& r) { return "/" + device == r.path; };
        abi::set_physical_address(
            record, std::find_if(text.regions.begin(), text.regions.end(), is_it)->base);
        record.access = abi::encode_access(true, 0);
        for (const char c : unescaped(string)) {
            record.value = static_cast<unsigned char>(c);
            record.cpu_sequence = sequence_[record.cpu];
            add(record);
            record.time += text.frequency / 100'000;
        }
    }

    // After a gap the numbers continue where it ends.
    void add(Record record) {
        record.device = abi::no_device;
        for (std::size_t i = 0; i < text.regions.size(); ++i) {
            const std::uint64_t offset = abi::physical_address(record) - text.regions[i].base;
            record.device =
                offset < text.regions[i].size ? static_cast<std::uint16_t>(i) : record.device;
        }
        if (record.type == abi::RecordType::access) {
            record.lock_sequence = order_[record.device]++;
        }
        const bool gap = record.type == abi::RecordType::gap;
        sequence_[record.cpu] =
            record.cpu_sequence + (gap ? static_cast<std::uint32_t>(record.value) : 1);
        text.records.push_back(record);
    }

    std::map<unsigned, std::uint32_t> sequence_;
    std::map<std::uint16_t, std::uint32_t> order_; ///< by region
};

const Location* location_at(std::uint32_t address, const TraceText& text,
                            std::deque<Location>& locations) {
    const auto above = text.code.upper_bound(address);
    if (above == text.code.begin()) {
        return nullptr;
    }
    const auto& [start, code] = *std::prev(above);
    if (address - start >= code.size) {
        return nullptr;
    }
    locations.push_back(code.location);
    locations.back().offset = address - start;
    return &locations.back();
}

constexpr std::uint32_t gic_phandle = 1;

// GIC Architecture Specification, Linux' binding arm,gic: 3 cells, the second counts from 32.
int add_interrupt(void* fdt, std::uint32_t id) {
    const fdt32_t cells[3] = {0, cpu_to_fdt32(id - 32), cpu_to_fdt32(4)};
    return fdt_property(fdt, "interrupts", cells, sizeof cells);
}

// A node for each device that has a `compatible`.
std::vector<std::byte> tree_of(const TraceText& text) {
    std::vector<std::byte> tree(65536);
    void* const fdt = tree.data();
    int bad = fdt_create(fdt, static_cast<int>(tree.size())) | fdt_finish_reservemap(fdt) |
              fdt_begin_node(fdt, "") | fdt_property_u32(fdt, "#address-cells", 2) |
              fdt_property_u32(fdt, "#size-cells", 2);
    if (!text.interrupts.empty()) {
        bad |= fdt_property_u32(fdt, "interrupt-parent", gic_phandle);
    }
    for (std::size_t i = 0; i < text.regions.size(); ++i) {
        const abi::RegionEntry& region = text.regions[i];
        const fdt64_t reg[2] = {cpu_to_fdt64(region.base), cpu_to_fdt64(region.size)};
        const std::string& compatible = text.compatible[i];
        if (!compatible.empty()) {
            bad |= fdt_begin_node(fdt, region.path + 1) |
                   fdt_property(fdt, "compatible", compatible.c_str(),
                                static_cast<int>(compatible.size() + 1)) |
                   fdt_property(fdt, "reg", reg, sizeof reg);
            if (compatible.find("gic") != std::string::npos && !text.interrupts.empty()) {
                bad |= fdt_property_u32(fdt, "phandle", gic_phandle) |
                       fdt_property_u32(fdt, "#interrupt-cells", 3);
            }
            const auto interrupt = text.interrupts.find(region.path + 1);
            if (interrupt != text.interrupts.end()) {
                bad |= add_interrupt(fdt, interrupt->second);
            }
            bad |= fdt_end_node(fdt);
        }
    }
    if ((bad | fdt_end_node(fdt) | fdt_finish(fdt)) != 0) {
        throw std::runtime_error("no device tree");
    }
    tree.resize(fdt_totalsize(fdt));
    return tree;
}

// Each function, followed by a mark.
symbols::SymbolList symbols_of(const TraceText& text) {
    symbols::SymbolList list;
    for (const auto& [address, code] : text.code) {
        list.push_back({address, 't', code.location.function, code.location.module});
        list.push_back({address + code.size, 'D', "behind", code.location.module});
    }
    for (const auto& [address, name] : text.variables) {
        list.push_back({address, 'b', name, ""});
    }
    return list;
}

std::vector<trace::TaskEntry> tasks_of(const TraceText& text) {
    std::vector<trace::TaskEntry> entries;
    for (const auto& [pointer, task] : text.tasks) {
        trace::TaskEntry& entry =
            entries.emplace_back(0, pointer, trace::TaskKey::task, task.pid, task.tgid);
        task.comm.copy(entry.comm, sizeof entry.comm);
    }
    return entries;
}

} // namespace

TraceText read_trace_text(std::istream& in) {
    Reader reader;
    unsigned number = 0;
    for (std::string line; std::getline(in, line) && line != "----";) {
        ++number;
        try {
            reader.line(line);
        } catch (const std::exception& error) {
            throw std::runtime_error(fmt::format("line {}: {}: {}", number, line, error.what()));
        }
    }
    return reader.text;
}

void add_names(Given& given, const abi::Record& record, TraceText& text,
               std::deque<Location>& locations) {
    const auto reg = text.registers.find({std::string(given.device), given.offset});
    given.reg = reg == text.registers.end() ? nullptr : &reg->second;
    given.code = location_at(record.pc, text, locations);
    given.caller = location_at(record.lr, text, locations);
    const bool same = given.code != nullptr && given.caller != nullptr &&
                      given.code->function == given.caller->function;
    given.caller = same ? nullptr : given.caller;
    const auto task = text.tasks.find(record.task);
    given.task = task == text.tasks.end() ? nullptr : &task->second;
}

void write_trace(const TraceText& text, int fd) {
    trace::WriteProgress progress;
    trace::FileWriter writer(fd, progress);
    abi::Info info{};
    info.counter_frequency = text.frequency;
    info.cpu_count = 2;
    info.record_size = sizeof(Record);
    info.region_size = sizeof(abi::RegionEntry);
    writer.values(abi::SectionType::info, std::span<const abi::Info>(&info, 1));
    writer.values(abi::SectionType::regions, std::span<const abi::RegionEntry>(text.regions));
    if (std::any_of(text.compatible.begin(), text.compatible.end(),
                    [](const std::string& one) { return !one.empty(); })) {
        writer.section(abi::SectionType::device_tree, tree_of(text));
    }
    trace::write_about(writer, {text.about, symbols::pack(symbols_of(text)), {}});
    writer.values(trace::tasks_section, std::span<const trace::TaskEntry>(tasks_of(text)));
    for (const auto& [time, string] : text.console) {
        const trace::ConsoleHeader header{time, string.size()};
        std::vector<char> payload(sizeof header + string.size());
        std::memcpy(payload.data(), &header, sizeof header);
        string.copy(payload.data() + sizeof header, string.size());
        writer.values(trace::console_section, std::span<const char>(payload));
    }
    writer.append(text.records);
    writer.flush();
    std::vector<abi::Loss> losses;
    std::uint64_t lost = 0;
    for (const Record& record : text.records) {
        if (record.type == abi::RecordType::gap) {
            losses.push_back({record.cpu, record.cpu_sequence, record.value, record.time});
            lost += record.value;
        }
    }
    writer.values(abi::SectionType::losses, std::span<const abi::Loss>(losses));
    writer.finish(lost, abi::Ending::machine_off);
}

namespace {

FileDescriptor file_of(const std::string& text) {
    std::istringstream in(text);
    FileDescriptor file = memory_file("trace", 0);
    write_trace(read_trace_text(in), file.get());
    return file;
}

reading::TraceOptions options_of(const FileDescriptor& file) {
    reading::TraceOptions options;
    options.path = fmt::format("/proc/self/fd/{}", file.get());
    return options;
}

} // namespace

TextTrace::TextTrace(const std::string& text) : file_(file_of(text)), trace_(options_of(file_)) {}

void TextTrace::drive(reading::Consumer& consumer) {
    reading::DriveOptions how;
    how.losses = reading::Losses::all;
    reading::drive(trace_, {&consumer}, how);
}

} // namespace mmioscope::test
