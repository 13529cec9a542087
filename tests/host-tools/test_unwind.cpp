// Callers by unwind tables: made by hand, and at random.
#include "../sim/random.hpp"
#include "catch_2_or_3.hpp"
#include "symbols/unwind.hpp"
#include "system/error.hpp"

#include <cstring>
#include <map>

using namespace mmioscope;
using namespace mmioscope::symbols;

namespace {

constexpr unsigned sp = 13, lr = 14, pc = 15;
using Bytes = std::vector<std::uint8_t>;

/// A word of a stack has its own address, with bit 0 set.
std::optional<std::uint32_t> own_address(std::uint32_t at) {
    return at >= 0x1000 && at < 0x3000 ? std::optional(at | 1) : std::nullopt;
}

CoreRegisters plain_registers() {
    CoreRegisters r{};
    for (unsigned n = 0; n < r.size(); ++n) {
        r[n] = 0x100 * n;
    }
    r[sp] = 0x2000;
    r[7] = 0x1800;
    return r;
}

/// Words of memory at `base`, with an index behind the opcodes of its functions.
class Memory {
public:
    explicit Memory(std::uint32_t base) : base_(base) {}

    std::uint32_t end() const { return base_ + 4 * static_cast<std::uint32_t>(words_.size()); }
    void add(std::uint32_t word) { words_.push_back(word); }
    void add_relative(std::uint32_t target) { add((target - end()) & 0x7fff'ffff); }
    std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }
    std::uint32_t base() const { return base_; }

private:
    std::uint32_t base_;
    std::vector<std::uint32_t> words_;
};

Bytes found(const UnwindTable& table, std::uint32_t at) {
    const std::optional<Opcodes> opcodes = table.find(at);
    return opcodes ? Bytes(opcodes->begin(), opcodes->end()) : Bytes{0xff, 0xff};
}

constexpr std::uint32_t code = 0xc010'0000, image = 0xc020'0000;
bool is_code(std::uint32_t address) {
    return address >= code && address < code + 0x1000;
}

/// Code of functions of 64 bytes, all with the same opcodes.
struct Facts final : CodeFacts {
    std::map<std::uint32_t, Bytes> functions;

    std::optional<Opcodes> opcodes(std::uint32_t at) override {
        const auto behind = functions.upper_bound(at);
        return function(at) != 0 ? std::optional<Opcodes>(std::prev(behind)->second) : std::nullopt;
    }
    std::uint32_t function(std::uint32_t at) override {
        const auto behind = functions.upper_bound(at);
        const bool is = behind != functions.begin() && at - std::prev(behind)->first < 64;
        return is ? std::prev(behind)->first : 0;
    }
};

} // namespace

TEST_CASE("an index of unwind tables is found where nothing says that there is one") {
    Memory memory(image);
    memory.add(0x1234'5678);
    memory.add(0x81'02'99'80 + 0); // looks like a table
    const std::uint32_t longer = memory.end();
    memory.add(0x8101'9b84); // personality 1, one more word
    memory.add(0x80b0'b0b0);
    memory.add_relative(code); // the index: its words are relative to themselves
    memory.add(0x80a8'b0b0);
    memory.add_relative(code + 0x40);
    memory.add(1);
    memory.add_relative(code + 0x80);
    memory.add_relative(longer);
    memory.add_relative(code + 0x60); // not ascending
    memory.add(0x80ab'b0b0);
    const UnwindTable table(memory.bytes(), memory.base(), 3, is_code);
    CHECK(found(table, code - 4) == Bytes{0xff, 0xff});
    CHECK(found(table, code) == Bytes{0xa8});
    CHECK(found(table, code + 0x3c) == Bytes{0xa8});
    CHECK(found(table, code + 0x40) == Bytes{});
    CHECK(found(table, code + 0x100) == Bytes{0x9b, 0x84, 0x80});
    CHECK(UnwindTable(memory.bytes(), memory.base(), 4, is_code).empty());
    CHECK(found(UnwindTable(memory.bytes(), memory.base(), 1, is_code), code + 0x60) ==
          Bytes{0xab}); // each section of a module has an index of its own

    const auto packed = table.bytes();
    CHECK(UnwindTable(packed).bytes() == packed);
    CHECK(found(UnwindTable(packed), code + 0x100) == Bytes{0x9b, 0x84, 0x80});
    CHECK_THROWS_AS(UnwindTable(std::span(packed).first(packed.size() - 1)), Error);
    Memory cut(image);
    cut.add_relative(code);
    cut.add_relative(image + 8);
    cut.add(0x81ff'9b84); // 255 more words, of which there are none
    const std::vector<std::byte> exact(cut.bytes().begin(), cut.bytes().end());
    CHECK(found(UnwindTable(exact, image, 1, is_code), code) == Bytes{0x9b, 0x84});
}

TEST_CASE("each opcode of the unwind tables does what the ABI says") {
    struct Row {
        Bytes opcodes;
        std::map<unsigned, std::uint32_t> changed; ///< besides PC; none: refused
        std::uint32_t returns_to;
    };
    const std::vector<Row> rows{
        {{0x03}, {{sp, 0x2010}}, 0xe00},                      // vsp += 16
        {{0x41}, {{sp, 0x1ff8}}, 0xe00},                      // vsp -= 8
        {{0x80, 0x08}, {{7, 0x2001}, {sp, 0x2004}}, 0xe00},   // r7
        {{0x84, 0x00}, {{lr, 0x2001}, {sp, 0x2004}}, 0x2001}, // LR
        {{0x82, 0x00}, {{sp, 0x2001}}, 0xe00},                // SP
        {{0x88, 0x00}, {{sp, 0x2004}}, 0x2001},               // PC
        {{0x80, 0x00}, {}, 0},                                // refuse to unwind
        {{0x97}, {{sp, 0x1800}}, 0xe00},                      // vsp = r7
        {{0x9d}, {}, 0},                                      // reserved
        {{0xa1}, {{4, 0x2001}, {5, 0x2005}, {sp, 0x2008}}, 0xe00},
        {{0xa8}, {{4, 0x2001}, {lr, 0x2005}, {sp, 0x2008}}, 0x2005},
        {{0xb0, 0x9d}, {{sp, 0x2000}}, 0xe00}, // finish
        {{0xb1, 0x0a}, {{1, 0x2001}, {3, 0x2005}, {sp, 0x2008}}, 0xe00},
        {{0xb1, 0x10}, {}, 0}, // spare
        {{0xb2, 0x81, 0x01}, {{sp, 0x2000 + 0x204 + 4 * 0x81}}, 0xe00},
        {{0xb2, 0x81}, {}, 0},                         // no end
        {{0xb2, 0x81, 0x82, 0x83, 0x84, 0x05}, {}, 0}, // too great
        {{0xb8}, {}, 0},                               // floating point
        {{0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f, 0x3f,
          0x3f, 0xa8},
         {},
         0}, // not on the stack
    };
    for (const Row& row : rows) {
        CAPTURE(row.opcodes);
        CoreRegisters expected = plain_registers();
        for (const auto& [n, value] : row.changed) {
            expected[n] = value;
        }
        expected[pc] = row.changed.empty() ? expected[pc] : row.returns_to;
        CoreRegisters r = plain_registers();
        CHECK((unwind(row.opcodes, r, own_address) == Unwound::no) == row.changed.empty());
        CHECK(r == expected);
    }
}

TEST_CASE("a chain of calls ends where nothing says how it goes on") {
    Facts facts;
    facts.functions = {{code, {}},                        // the first: no caller
                       {code + 0x40, {0xa8}},             // r4 and LR
                       {code + 0x80, {0x00, 0x84, 0x00}}, // 4 bytes, LR
                       {code + 0xc0, {}}};
    facts.functions[code + 0xc0] = {0xb1, 0x0f, 0x8f, 0xff}; // all registers: an exception's entry
    facts.functions[code + 0x100] = {0xaa};
    CoreRegisters r{};
    r[sp] = 0x2000;
    r[lr] = code + 0x84; // this function's own call
    r[pc] = code + 0x8c;
    std::map<std::uint32_t, std::uint32_t> stack{{0x2004, code + 0x48},  // returns to the second
                                                 {0x2008, 0x44},         // its r4
                                                 {0x200c, code + 0x10}}; // returns to the first
    const auto word = [&](std::uint32_t at) {
        return stack.contains(at) ? std::optional(stack[at]) : std::nullopt;
    };
    using Addresses = std::vector<std::uint32_t>;
    CHECK(callers_of(r, facts, word) == Addresses{code + 0x47, code + 0xf});

    SECTION("a call may be the last instruction of its function") {
        stack[0x2004] = code + 0x80;
        stack[0x200c] = code + 0x40;
        CHECK(callers_of(r, facts, word) == Addresses{code + 0x7f, code + 0x3f});
    }
    SECTION("before the first instruction nothing is saved") {
        r[pc] = code + 0x80;
        r[lr] = code + 0x14;
        CHECK(callers_of(r, facts, word) == Addresses{code + 0x13});
    }
    SECTION("LR says another caller than the stack: nobody knows whether that is saved yet") {
        r[lr] = code + 0x14;
        CHECK(callers_of(r, facts, word).empty());
        r[lr] = code + 0x48; // both say the same
        CHECK(callers_of(r, facts, word).size() == 2);
        r[lr] = 0x7777; // data, for which the function has saved it
        CHECK(callers_of(r, facts, word).size() == 2);
    }
    SECTION("somebody knows the innermost caller") {
        CHECK(callers_of(r, facts, word, code + 0x48).size() == 2);
        r[lr] = code + 0x14; // a path without the PUSH
        CHECK(callers_of(r, facts, word, code + 0x14) == Addresses{code + 0x13});
        CHECK(callers_of(r, facts, word, code + 0x54) == Addresses{code + 0x53}); // and no more
        facts.functions[code + 0x80] = {};                                        // no table
        CHECK(callers_of(r, facts, word, code + 0x48) == Addresses{code + 0x47});
    }
    SECTION("the stack ends") {
        stack.erase(0x200c);
        CHECK(callers_of(r, facts, word) == Addresses{code + 0x47});
        stack.clear();
        CHECK(callers_of(r, facts, word).empty());
    }
    SECTION("an address of no code is no caller") {
        stack[0x200c] = code + 0x1000;
        CHECK(callers_of(r, facts, word) == Addresses{code + 0x47});
    }
    SECTION("an interrupted function is where it was") {
        r[pc] = code + 0xc8;
        r[lr] = code + 0xcc;
        for (std::uint32_t n = 0; n < 16; ++n) { // saved: r0 to PC
            stack[0x2000 + 4 * n] = n;
        }
        stack[0x2000 + 4 * sp] = 0x2800;
        stack[0x2000 + 4 * lr] = code + 0x118;
        stack[0x2000 + 4 * pc] = code + 0x110;
        stack.insert({{0x2800, 4}, {0x2804, 5}, {0x2808, 6}, {0x280c, code + 0x10}});
        CHECK(callers_of(r, facts, word) == Addresses{code + 0x110, code + 0xf});
        stack[0x2000 + 4 * lr] = code + 0x58; // perhaps before its PUSH
        CHECK(callers_of(r, facts, word) == Addresses{code + 0x110});
    }
    SECTION("a function that has called must have saved LR") {
        facts.functions[code + 0x40] = {0xb0};
        CHECK(callers_of(r, facts, word) == Addresses{code + 0x47});
    }
    SECTION("a stack that leads back to itself ends") {
        facts.functions[code + 0x40] = {0x97, 0x84, 0x00};
        r[7] = 0x3000;
        stack[0x3000] = code + 0x48;
        CHECK(callers_of(r, facts, word).size() <= most_frames);
    }
}

TEST_CASE("hostile unwind tables and stacks have an end") {
    sim::Random random(59);
    for (unsigned round = 0; round < 20'000; ++round) {
        Facts facts;
        for (std::uint32_t at = code; at < code + 0x200; at += 64) {
            Bytes& opcodes = facts.functions[at];
            opcodes.resize(random.below(12));
            for (std::uint8_t& opcode : opcodes) {
                opcode = static_cast<std::uint8_t>(random.below(256));
            }
        }
        CoreRegisters r{};
        const auto any = [&] {
            return static_cast<std::uint32_t>(random.one_in(3) ? random.below(1ull << 32)
                                                               : code + random.below(0x200));
        };
        std::ranges::generate(r, any);
        r[pc] = code + static_cast<std::uint32_t>(random.below(0x200));
        unsigned asked = 0;
        const auto callers = callers_of(r, facts, [&](std::uint32_t) {
            ++asked;
            return std::optional(any());
        });
        REQUIRE(callers.size() <= most_frames);
        REQUIRE(asked <= most_frames * 12 * 16);

        std::vector<std::uint32_t> words(random.below(64));
        std::ranges::generate(words, any);
        const auto bytes = std::as_bytes(std::span(words));
        UnwindTable(bytes, image, 1, [](std::uint32_t) { return true; });
        try {
            UnwindTable{bytes};
        } catch (const Error&) { // as it should
        }
    }
}
