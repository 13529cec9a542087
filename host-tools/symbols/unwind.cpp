#include "symbols/unwind.hpp"

#include "system/error.hpp"
#include "system/open_source.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope::symbols {

namespace {

constexpr unsigned sp = 13, lr = 14, pc = 15;
constexpr std::uint32_t cannot_unwind = 1; ///< second word of an entry of the index

/// The words of an image.
class LoadedImage {
public:
    LoadedImage(std::span<const std::byte> memory, std::uint32_t base)
        : memory_(memory), base_(base) {}

    std::size_t words() const { return memory_.size() / 4; }
    std::uint32_t address(std::size_t index) const {
        return base_ + static_cast<std::uint32_t>(4 * index);
    }
    std::uint32_t at(std::size_t index) const {
        std::uint32_t word;
        std::memcpy(&word, memory_.data() + 4 * index, sizeof word);
        return word;
    }
    /// Nothing: it is not in the image.
    std::optional<std::size_t> index_of(std::uint32_t address) const {
        const std::uint32_t offset = address - base_;
        return offset % 4 == 0 && offset / 4 < words() ? std::optional<std::size_t>(offset / 4)
                                                       : std::nullopt;
    }
    /// Where a word of 31 bits points to, relative to itself.
    std::uint32_t target(std::size_t index) const {
        return address(index) + (((at(index) & 0x7fff'ffff) ^ 0x4000'0000) - 0x4000'0000);
    }

private:
    std::span<const std::byte> memory_;
    std::uint32_t base_;
};

/// The opcodes in the word `first`, and those of the words behind it; nothing: they have another
/// form (IHI 0038, 7.3: the three compact models).
std::optional<std::vector<std::uint8_t>> compact(const LoadedImage& image, std::size_t first) {
    std::uint32_t word = image.at(first);
    const std::uint32_t model = word >> 24;
    if (model < 0x80 || model > 0x82) {
        return std::nullopt;
    }
    const std::size_t more = model == 0x80 ? 0 : word >> 16 & 0xff;
    std::vector<std::uint8_t> opcodes;
    int shift = model == 0x80 ? 16 : 8;
    for (std::size_t n = 0; n <= more && first + n < image.words(); ++n, shift = 24) {
        for (word = image.at(first + n); shift >= 0; shift -= 8) {
            opcodes.push_back(static_cast<std::uint8_t>(word >> shift));
        }
    }
    constexpr std::uint8_t finish = 0xb0; // fills up the last word
    while (opcodes.size() > 1 && opcodes.back() == finish) {
        opcodes.pop_back();
    }
    return opcodes.size() <= UnwindTable::longest ? std::optional(opcodes) : std::nullopt;
}

/// Those of the entry with its second word at `index`; nothing: it is no entry.
std::optional<std::vector<std::uint8_t>> opcodes_at(const LoadedImage& image, std::size_t index) {
    if (image.at(index) == cannot_unwind) {
        return std::vector<std::uint8_t>();
    }
    if ((image.at(index) & 0x8000'0000) != 0) {
        return image.at(index) >> 24 == 0x80 ? compact(image, index) : std::nullopt;
    }
    const auto table = image.index_of(image.target(index));
    return table ? compact(image, *table) : std::nullopt;
}

} // namespace

UnwindTable::UnwindTable(std::span<const std::byte> memory, std::uint32_t base, std::size_t fewest,
                         const BeginsCode& begins_code) {
    const LoadedImage image(memory, base);
    const auto start_at = [&](std::size_t index) { // bit 0: in Thumb state
        const bool is = image.at(index) >> 31 == 0 && begins_code(image.target(index) & ~1u);
        return is ? image.target(index) & ~1u : 0;
    };
    UnwindTable row;
    const auto end_row = [&] {
        if (row.entries_.size() >= fewest) {
            row.each([this](std::uint32_t start, Opcodes opcodes) { add(start, opcodes); });
        }
        row = {};
    };
    for (const std::size_t odd : {0, 1}) {
        for (std::size_t at = odd; at + 1 < image.words(); at += 2) {
            const std::uint32_t start = start_at(at);
            const auto opcodes = start != 0 ? opcodes_at(image, at + 1) : std::nullopt;
            if (!opcodes || (!row.empty() && start <= row.entries_.back().start)) {
                end_row();
            }
            if (opcodes) {
                row.add(start, *opcodes);
            }
        }
        end_row();
    }
    sort(); // each section of a module has a row
}

void UnwindTable::sort() {
    std::ranges::stable_sort(entries_, {}, &Entry::start);
}

void UnwindTable::add(std::uint32_t start, Opcodes opcodes) {
    const auto count = std::min(opcodes.size(), longest);
    entries_.push_back(
        {start, static_cast<std::uint32_t>(opcodes_.size()), static_cast<std::uint8_t>(count)});
    opcodes_.insert(opcodes_.end(), opcodes.begin(), opcodes.begin() + static_cast<long>(count));
}

std::optional<Opcodes> UnwindTable::find(std::uint32_t pc) const {
    const auto behind = std::ranges::upper_bound(entries_, pc, {}, &Entry::start);
    return behind == entries_.begin() ? std::nullopt : std::optional(opcodes_of(behind[-1]));
}

namespace {

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    to.insert(to.end(), bytes.begin(), bytes.end());
}

} // namespace

// For each function its address, a byte with their number, and the opcodes.
std::vector<std::byte> UnwindTable::bytes() const {
    std::vector<std::byte> all;
    each([&](std::uint32_t start, Opcodes opcodes) {
        append(all, start);
        append(all, static_cast<std::uint8_t>(opcodes.size()));
        const auto bytes = std::as_bytes(opcodes);
        all.insert(all.end(), bytes.begin(), bytes.end());
    });
    return all;
}

UnwindTable::UnwindTable(std::span<const std::byte> packed) {
    while (!packed.empty()) {
        std::uint32_t start = 0;
        const std::size_t count = packed.size() > 4 ? static_cast<std::size_t>(packed[4]) : 0;
        if (packed.size() < 5 + count) {
            throw bad_input("the table of frames is damaged");
        }
        std::memcpy(&start, packed.data(), sizeof start);
        if (!entries_.empty() && start < entries_.back().start) {
            throw bad_input("the table of frames is damaged");
        }
        add(start, {reinterpret_cast<const std::uint8_t*>(packed.data()) + 5, count});
        packed = packed.subspan(5 + count);
    }
}

Unwound unwind(Opcodes opcodes, CoreRegisters& registers, const StackWord& word) {
    CoreRegisters r = registers;
    r[pc] = 0;
    const auto pop = [&](std::uint32_t mask) { // the lowest register is at the lowest address
        std::uint32_t at = r[sp];
        for (unsigned n = 0; n < r.size(); ++n) {
            if ((mask >> n & 1) == 0) {
                continue;
            }
            const std::optional<std::uint32_t> value = word(at);
            if (!value) {
                return false;
            }
            r[n] = *value;
            at += 4;
        }
        r[sp] = (mask >> sp & 1) != 0 ? r[sp] : at;
        return true;
    };
    while (!opcodes.empty()) {
        const std::uint8_t opcode = opcodes[0];
        const auto next = [&] { // 0: they end too early, which no form allows
            return opcodes.size() > 1 ? opcodes[1] : std::uint8_t{0};
        };
        std::size_t size = 1;
        if (opcode < 0x40) {
            r[sp] += (opcode & 0x3fu) * 4 + 4;
        } else if (opcode < 0x80) {
            r[sp] -= (opcode & 0x3fu) * 4 + 4;
        } else if (opcode < 0x90) {
            const std::uint32_t mask = (opcode & 0xfu) << 12 | std::uint32_t{next()} << 4;
            size = 2;
            if (mask == 0 || !pop(mask)) {
                return Unwound::no;
            }
        } else if (opcode < 0xa0) {
            if (opcode == 0x9d || opcode == 0x9f) {
                return Unwound::no;
            }
            r[sp] = r[opcode & 0xf];
        } else if (opcode < 0xb0) {
            const std::uint32_t from_r4 = ((2u << (opcode & 7)) - 1) << 4;
            if (!pop(from_r4 | ((opcode & 8) != 0 ? 1u << lr : 0))) {
                return Unwound::no;
            }
        } else if (opcode == 0xb0) {
            break;
        } else if (opcode == 0xb1) {
            size = 2;
            if (next() == 0 || next() > 0xf || !pop(next())) {
                return Unwound::no;
            }
        } else if (opcode == 0xb2) { // ULEB128
            std::uint32_t words = 0;
            do {
                if (size == opcodes.size() || size > 4) {
                    return Unwound::no;
                }
                words |= (opcodes[size] & 0x7fu) << 7 * (size - 1);
            } while ((opcodes[size++] & 0x80) != 0);
            r[sp] += 0x204 + words * 4;
        } else {
            return Unwound::no; // of other registers, which a kernel does not save
        }
        opcodes = opcodes.subspan(std::min(size, opcodes.size()));
    }
    const Unwound how = r[pc] != 0 ? Unwound::interrupted : Unwound::called;
    r[pc] = how == Unwound::called ? r[lr] : r[pc];
    registers = r;
    return how;
}

namespace {

/// Undoes the frame of a function that may be anywhere; its opcodes hold behind its PUSH. Until
/// then LR has the return address. Then it has that, or data, or what the function's own calls have
/// left. `known`: the return address; 0: it is not known.
Unwound unwind_anywhere(Opcodes opcodes, CoreRegisters& r, std::uint32_t known, CodeFacts& code,
                        const StackWord& word) {
    const CoreRegisters before = r;
    const std::uint32_t function = code.function(r[pc] & ~1u);
    const std::uint32_t from = code.function((r[lr] & ~1u) - 1);
    const Unwound how = unwind(opcodes, r, word);
    const bool fits =
        known != 0 ? r[pc] == known : r[pc] == before[lr] || from == 0 || from == function;
    if (function == (before[pc] & ~1u) || (!fits && known == before[lr])) {
        r = before;
        r[pc] = before[lr];
        return Unwound::called;
    }
    return fits ? how : Unwound::no;
}

} // namespace

std::vector<std::uint32_t> callers_of(CoreRegisters registers, CodeFacts& code,
                                      const StackWord& word, std::uint32_t known, bool called) {
    std::vector<std::uint32_t> found;
    found.reserve(16);
    Unwound how = called ? Unwound::called : Unwound::interrupted;
    registers[pc] = called ? registers[lr] : registers[pc];
    std::uint32_t in = (registers[pc] & ~1u) - (called ? 1 : 0);
    if (called && code.function(in) != 0) {
        found.push_back(in);
    }
    while (found.size() < most_frames) {
        const std::uint32_t before[] = {registers[sp], registers[pc]};
        const std::optional<Opcodes> opcodes = code.opcodes(in);
        if (!opcodes || opcodes->empty()) {
            break;
        }
        how = how == Unwound::interrupted ? unwind_anywhere(*opcodes, registers, known, code, word)
                                          : unwind(*opcodes, registers, word);
        in = (registers[pc] & ~1u) - (how == Unwound::called ? 1 : 0);
        const bool same = registers[sp] == before[0] && registers[pc] == before[1];
        if (how == Unwound::no || same || code.function(in) == 0) {
            break;
        }
        found.push_back(in);
        known = 0;
    }
    if (found.empty() && known != 0) {
        found.push_back((known & ~1u) - 1);
    }
    return found;
}

} // namespace mmioscope::symbols
