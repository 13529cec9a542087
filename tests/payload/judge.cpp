// payload-judge [--whole] TRACE: whether behind each store to the palette is the payload that its
// value says, byte by byte, in the records directly behind it; --whole: of each store. A group may
// lack what the numbers of its CPU lack. Prints what it has seen; exit status 0 if all is right.
#include "pattern.hpp"

#include "file/trace_reader.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string_view>
#include <utility>

using namespace mmioscope;

namespace {

class Judge {
public:
    void add(const abi::Record& record) {
        if (record.type == abi::RecordType::gap) {
            return;
        }
        Cpu& cpu = cpus_[record.cpu];
        const bool at_once = cpu.next == record.cpu_sequence;
        cpu.next = record.cpu_sequence + 1;
        const std::optional<abi::Record> before = std::exchange(cpu.open, std::nullopt);
        if (record.type == abi::RecordType::payload) {
            look_at_piece(record, before, at_once, cpu);
        } else {
            close(cpu, before, at_once);
            look_at_owner(record, cpu);
        }
        if (abi::goes_on(record)) {
            cpu.open = record;
        }
        last_cpu_ = record.cpu;
        ++count_;
    }

    int finish(bool whole) {
        for (auto& [number, cpu] : cpus_) {
            close(cpu, cpu.open, false);
        }
        fmt::print("{} payloads whole, {} without their beginning, {} without a piece between, "
                   "{} without their end; {} stores without any, {} other records, {} wrong\n",
                   whole_, beginnings_, middles_, ends_, without_, others_, wrong_);
        const bool broken = beginnings_ + middles_ + ends_ > 0;
        return wrong_ > 0 || whole_ == 0 || without_ == 0 || others_ == 0 || (whole && broken);
    }

private:
    struct Cpu {
        std::optional<std::uint32_t> next;
        std::optional<abi::Record> open; ///< the last record, if a piece follows it
        std::optional<abi::Record> owner; ///< of the group that goes on, if it is there
        bool whole = false;               ///< nothing was missing so far
    };

    void wrong(const abi::Record& record, std::string_view what) {
        if (++wrong_ <= 10) {
            fmt::print("record {}: cpu {} sequence {}: {}\n", count_, record.cpu,
                       record.cpu_sequence, what);
        }
    }

    /// Behind `before`, which goes on, is no piece.
    void close(Cpu& cpu, const std::optional<abi::Record>& before, bool at_once) {
        if (before && at_once) {
            wrong(*before, "its payload does not go on, and nothing is missing");
        }
        ends_ += before ? 1 : 0;
        cpu.owner.reset();
    }

    void look_at_owner(const abi::Record& record, Cpu& cpu) {
        using namespace payload_test;
        const bool store = record.type == abi::RecordType::access && abi::is_write(record) &&
                           abi::physical_address(record) - palette < palette_size;
        const std::uint32_t size = store ? size_of(static_cast<std::uint32_t>(record.value)) : 0;
        if (abi::goes_on(record) != (size > 0)) {
            wrong(record, "has a payload, or has none, against its value");
        }
        if (size > 0) {
            cpu.owner = record;
            cpu.whole = true;
        } else {
            (store ? without_ : others_) += 1;
        }
    }

    void look_at_piece(const abi::Record& piece, const std::optional<abi::Record>& before,
                       bool at_once, Cpu& cpu) {
        using namespace payload_test;
        if (before && at_once && (last_cpu_ != piece.cpu || !abi::follows(piece, *before))) {
            wrong(piece, "does not follow its group");
        }
        if (!before && at_once) {
            wrong(piece, "is of no group, and nothing is missing");
        }
        if (!at_once) {
            const bool same = cpu.owner && abi::owner_of(piece) == cpu.owner->cpu_sequence;
            ends_ += before && !same ? 1 : 0;
            (same ? middles_ : beginnings_) += 1;
            cpu.whole = false;
            if (!same) {
                cpu.owner.reset();
            }
        }
        if (!abi::is_sound_piece(piece)) {
            wrong(piece, "has an impossible size or place");
        }
        if (!cpu.owner) {
            return; // whose it is was lost
        }
        const auto value = static_cast<std::uint32_t>(cpu.owner->value);
        const unsigned from = abi::piece_index(piece) * abi::piece_bytes;
        for (unsigned i = 0; i < abi::piece_bytes; ++i) {
            const bool used = i < abi::bytes_in(piece);
            if (abi::bytes_of(piece)[i] != (used ? byte_of(value, from + i) : 0)) {
                wrong(piece, "has another byte than its owner says");
                break;
            }
        }
        if (!abi::goes_on(piece)) {
            if (from + abi::bytes_in(piece) != size_of(value)) {
                wrong(piece, "ends too early or too late");
            }
            whole_ += cpu.whole ? 1 : 0;
        }
    }

    std::map<unsigned, Cpu> cpus_;
    unsigned last_cpu_ = 0;
    std::uint64_t count_ = 0;
    std::uint64_t whole_ = 0, beginnings_ = 0, middles_ = 0, ends_ = 0;
    std::uint64_t without_ = 0, others_ = 0, wrong_ = 0;
};

} // namespace

int main(int count, char** arguments) try {
    const bool whole = count == 3 && std::string_view(arguments[1]) == "--whole";
    if (count != 2 && !whole) {
        fmt::print(stderr, "usage: payload-judge [--whole] TRACE\n");
        return 2;
    }
    const FileDescriptor file = open_input(arguments[count - 1]);
    FileSource source(file.get());
    trace::TraceReader reader(source, [](const std::string& what) { fmt::print("{}\n", what); });
    Judge judge;
    for (auto block = reader.next(); !block.empty(); block = reader.next()) {
        for (const abi::Record& record : block) {
            judge.add(record);
        }
    }
    return judge.finish(whole);
} catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
}
