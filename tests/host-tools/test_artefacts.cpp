// One test for each row of the table in host-tools/verify/README.md.
#include "bus.hpp"
#include "catch_2_or_3.hpp"
#include "verify/artefacts.hpp"

using namespace mmioscope;
using namespace mmioscope::test;
using verify::Artefact;

namespace {

struct Access {
    bool write;
    std::uint32_t address;
    unsigned log2_size;
    std::uint64_t value;
    std::uint8_t flags = 0;
    abi::RecordType type = abi::RecordType::access;
};

verify::Result compare(const std::string& log, const std::vector<Access>& accesses,
                       const std::string& qemu = "7.2.22") {
    Bus bus(0, 0);
    bus.qemu = qemu;
    bus.log = {log};
    std::uint32_t i = 0;
    for (const Access& a : accesses) {
        abi::Record record = access(0, i, 100 + 10 * i);
        ++i;
        record.access = abi::encode_access(a.write, a.log2_size);
        record.pa_low = a.address;
        record.value = a.value;
        record.flags = a.flags;
        record.type = a.type;
        record.pc = 0x8000;
        bus.trace.push_back(record);
    }
    return bus.compare();
}

bool explained(const verify::Result& result, Artefact row, std::uint64_t events = 1) {
    return result.differences.empty() && result.artefacts[static_cast<std::size_t>(row)] == events;
}

constexpr std::uint32_t uart = 0x1c09'0000;

} // namespace

TEST_CASE("artefact: a model's value has bits beyond the access") {
    CHECK(explained(compare(log_line(false, 0, uart, 0x1190'f500, 1), {{false, uart, 0, 0x00}}),
                    Artefact::unmasked_value));
    CHECK(!compare(log_line(false, 0, uart, 0x1190'f501, 1), {{false, uart, 0, 0x00}})
               .differences.empty());
}

TEST_CASE("artefact: a model that takes only words is logged with words") {
    const std::string word = log_line(true, 0, uart + 0x18, 0x41, 4, "pl011");
    const std::string other = log_line(true, 0, uart, 0x42, 4, "pl011");
    const auto differs = [](const std::string& log, const std::vector<Access>& accesses,
                            const std::string& qemu = "10.0.13 (Debian)") {
        return !compare(log, accesses, qemu).differences.empty();
    };
    const std::vector<Access> two{{true, uart + 0x18, 0, 0x41}, {true, uart, 1, 0x42}};
    CHECK(explained(compare(word + other, two, "10.0.13 (Debian)"), Artefact::widened, 2));
    const std::vector<Access> altered{{true, uart + 0x18, 0, 0x41}, {true, uart, 1, 0x43}};
    const auto found = compare(word + other, altered, "10.0.13").differences;
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == verify::Kind::value);
    CHECK(differs(word + other, two, "7.2.22"));
    CHECK(differs(word + other, two, ""));
    CHECK(differs(word, {{true, uart + 0x18, 0, 0x42}}));
    CHECK(differs(word, {{true, uart + 0x18, 3, 0x41}}));
    const std::string byte = log_line(true, 0, uart, 0x42, 1, "pl011");
    CHECK(differs(word + byte, {{true, uart + 0x18, 0, 0x41}, {true, uart, 0, 0x42}}));
    const std::string another = log_line(true, 0, uart + 0x18, 0x41, 4, "another model");
    CHECK(differs(another, {{true, uart + 0x18, 0, 0x41}}));
}

TEST_CASE("artefact: a model behind an alias is logged by offset") {
    Bus bus(0, 0);
    bus.regions = {region(0x3f00'0000, 0x100'0000, "/pcie@10000000")};
    abi::Record record = access(0, 0, 100);
    record.pa_low = 0x3f00'0004;
    bus.trace = {record};
    bus.log = {log_line(false, 0, 4, record.value, 4, "pcie-mmcfg-mmio")};
    CHECK(bus.compare().differences.empty());
    bus.log = {log_line(false, 0, 8, record.value, 4, "pcie-mmcfg-mmio")};
    CHECK(!bus.compare().differences.empty());
    bus.log = {log_line(false, 0, 4, record.value, 4, "another model")};
    CHECK(!bus.compare().differences.empty());
}

TEST_CASE("artefact: 8 bytes are two lines of 4") {
    const std::string log =
        log_line(false, 0, uart, 0x1111'2222, 4) + log_line(false, 0, uart + 4, 0x3333'4444, 4);
    CHECK(explained(compare(log, {{false, uart, 3, 0x3333'4444'1111'2222}}),
                    Artefact::split_in_words));
    CHECK(!compare(log, {{false, uart, 3, 0x3333'4444'1111'2223}}).differences.empty());
}

TEST_CASE("artefact: an unaligned read is two aligned ones") {
    const std::string log =
        log_line(false, 0, uart, 0x4433'2211, 4) + log_line(false, 0, uart + 4, 0x8877'6655, 4);
    CHECK(explained(compare(log, {{false, uart + 1, 2, 0x5544'3322}}), Artefact::unaligned_read));
    CHECK(explained(compare(log, {{false, uart + 3, 2, 0x7766'5544}}), Artefact::unaligned_read));
    CHECK(!compare(log, {{false, uart + 1, 2, 0x5544'3323}}).differences.empty());
}

TEST_CASE("artefact: an unaligned write is a line for each byte") {
    std::string log;
    for (std::uint32_t i = 0; i < 4; ++i) {
        log += log_line(true, 0, uart + 2 + i, 0x11 * (i + 1), 1);
    }
    CHECK(explained(compare(log, {{true, uart + 2, 2, 0x4433'2211}}), Artefact::unaligned_write));
    CHECK(!compare(log, {{true, uart, 2, 0x4433'2211}}).differences.empty());
}

TEST_CASE("an access of more than 8 bytes is no row of unaligned ones") {
    constexpr std::uint64_t value = 0x0706'0504'0302'0100;
    const std::string qemu = GENERATE("7.2.22", "8.1.0");
    std::string log;
    for (std::uint32_t i = 0; i < 16; ++i) {
        log += log_line(true, 0, uart + 1 + i, i, 1);
    }
    const verify::Result result = compare(log, {{true, uart + 1, 4, value}}, qemu);
    CHECK(result.compared == 0);
    CHECK(result.differences.size() == 17);
}

TEST_CASE("artefact: since QEMU 8.1 an unaligned access is aligned pieces of the same size") {
    const auto pieces = [](bool write, std::uint32_t at, unsigned size, unsigned count) {
        std::string log;
        for (unsigned i = 0; i < count; ++i) {
            log += log_line(write, 0, uart + at + i * size, 0x0403'0201 + i, size);
        }
        return log;
    };
    const auto same = [](const std::string& log, const std::vector<Access>& accesses,
                         const std::string& qemu = "8.1.0") {
        return explained(compare(log, accesses, qemu), Artefact::unaligned_pieces);
    };
    for (const bool write : {false, true}) {
        const std::string halves = pieces(write, 2, 2, 2);
        const std::string bytes = pieces(write, 1, 1, 4);
        const std::vector<Access> at_half{{write, uart + 2, 2, 0x0202'0201}};
        const std::vector<Access> at_byte{{write, uart + 1, 2, 0x0403'0201}};
        CHECK(same(halves, at_half));
        CHECK(same(bytes, at_byte));
        CHECK(same(bytes, at_byte, "10.0.13 (Debian)"));
        CHECK(same(pieces(write, 3, 1, 2), {{write, uart + 3, 1, 0x0201}}));
        CHECK(!same(halves, {{write, uart + 2, 2, 0x0202'0202}}));
        CHECK(!same(pieces(write, 2, 1, 4), at_half));
        CHECK(!same(pieces(write, 2, 2, 1), at_half));
        CHECK(!same(halves, {{write, uart, 2, 0x0202'0201}}));
        for (const char* const older : {"8.0.5", "7.2.22", "", "none"}) {
            CHECK(!compare(halves, at_half, older).differences.empty());
        }
    }
}

TEST_CASE("artefact: a part of an access that lies in two pages") {
    constexpr std::uint32_t other = 0x1c05'0000;
    constexpr std::uint8_t same = abi::flag_same_instruction;
    const auto words = [](std::uint32_t address, std::initializer_list<std::uint64_t> values) {
        std::string log;
        for (const std::uint64_t value : values) {
            log += log_line(false, 0, address, value, 4);
            address += 4;
        }
        return log;
    };
    const std::string end = words(uart + 0xffc, {0x4433'2211}), begin = words(other, {0x8877'6655});
    const std::vector<Access> ldr{{false, uart + 0xffd, 0, 0x22},
                                  {false, uart + 0xffe, 0, 0x33, same},
                                  {false, uart + 0xfff, 0, 0x44, same},
                                  {false, other, 0, 0x55, same}};
    CHECK(explained(compare(end + begin, ldr), Artefact::border, 4));
    CHECK(!compare(begin + end, ldr).differences.empty());
    CHECK(!compare(end, ldr).differences.empty());
    for (std::size_t n = 0; n < ldr.size(); ++n) {
        std::vector<Access> altered = ldr;
        altered[n].value ^= 1;
        CHECK(!compare(end + begin, altered).differences.empty());
        if (n == 0) {
            continue; // without it, it could be the part of another access
        }
        altered = ldr;
        altered.erase(altered.begin() + static_cast<std::ptrdiff_t>(n));
        CHECK(!compare(end + begin, altered).differences.empty());
    }
    // The other page is memory: only its part is known. The next word is the next instruction's.
    const std::vector<Access> behind{{false, other, 0, 0x55}, {false, other + 4, 2, 0x9999'9999}};
    const std::string next = words(other, {0x8877'6655, 0x9999'9999});
    CHECK(explained(compare(next, behind), Artefact::border));
    CHECK(!compare(next, {{false, other, 2, 0x8877'6655}}).differences.empty());
    // 8 bytes from 0xffc on, and 16 from 0xffa on, which are halfwords in the second page.
    const std::string far = words(uart + 0xff8, {1, 2}), near = words(other, {3, 4});
    CHECK(explained(compare(far + near, {{false, uart + 0xffc, 2, 2}, {false, other, 2, 3, same}}),
                    Artefact::border, 2));
    CHECK(!compare(far + near, {{false, uart + 0xffc, 2, 2}}).differences.empty());
    std::vector<Access> many{{false, uart + 0xffa, 1, 0},
                             {false, uart + 0xffc, 1, 2, same},
                             {false, uart + 0xffe, 1, 0, same}};
    for (std::uint32_t n = 0; n < 5; ++n) {
        many.push_back({false, other + 2 * n, 1, n % 2 == 0 ? 3 + n / 2 : 0, same});
    }
    CHECK(explained(compare(far + near + words(other, {3, 4, 5, 6}), many), Artefact::border, 4));
    const std::vector<Access> str{{true, uart + 0xffe, 0, 0x11},
                                  {true, uart + 0xfff, 0, 0x22, same},
                                  {true, other, 0, 0x33, same},
                                  {true, other + 1, 0, 0x44, same}};
    std::string pieces = log_line(true, 0, uart + 0xffe, 0x2211, 2);
    pieces += log_line(true, 0, other, 0x4433, 2);
    CHECK(explained(compare(pieces, str, "10.0.13"), Artefact::border, 4));
    CHECK(!compare(pieces, str).differences.empty());
}

TEST_CASE("artefact: since QEMU 8.1 unaligned doublewords are such pieces, too") {
    constexpr std::uint8_t same = abi::flag_same_instruction;
    const std::string words =
        log_line(false, 0, uart + 4, 0x0302'0100, 4) + log_line(false, 0, uart + 8, 0x0706'0504, 4);
    std::vector<Access> bytes;
    for (std::uint32_t i = 0; i < 8; ++i) {
        bytes.push_back({false, uart + 4 + i, 0, i, i == 0 ? std::uint8_t{0} : same});
    }
    CHECK(explained(compare(words, bytes, "10.0.13"), Artefact::doubleword, 8));
    CHECK(!compare(words, bytes, "7.2.22").differences.empty());
    bytes[6].value = 7;
    CHECK(!compare(words, bytes, "10.0.13").differences.empty());
    const std::vector<Access> halves{{true, uart + 2, 2, 0x0002'0001},
                                     {true, uart + 6, 2, 0x0004'0003, same}};
    std::string stored;
    for (std::uint32_t i = 0; i < 4; ++i) {
        stored += log_line(true, 0, uart + 2 + 2 * i, i + 1, 2);
    }
    // Each word is two pieces of its own, too.
    CHECK(explained(compare(stored, halves, "10.0.13"), Artefact::doubleword, 2));
    CHECK(!compare(stored, halves, "7.2.22").differences.empty());
}

TEST_CASE("artefact: LDRD and STRD at a model that takes 8 bytes") {
    constexpr std::uint8_t same = abi::flag_same_instruction;
    const std::string line = log_line(true, 0, uart, 0x4444'3333'2222'1111, 8);
    CHECK(explained(compare(line,
                            {{true, uart, 2, 0x2222'1111}, {true, uart + 4, 2, 0x4444'3333, same}},
                            "10.0.13"),
                    Artefact::doubleword, 2));
    const auto differs = [&](const std::vector<Access>& accesses) {
        return !compare(line, accesses, "10.0.13").differences.empty();
    };
    CHECK(differs({{true, uart, 2, 0x2222'1111}, {true, uart + 4, 2, 0x4444'3334, same}}));
    CHECK(differs({{true, uart, 2, 0x2222'1111}, {true, uart + 4, 2, 0x4444'3333}}));
    CHECK(differs({{true, uart, 2, 0x2222'1111}}));
    CHECK(differs({{true, uart + 4, 2, 0x2222'1111}, {true, uart + 8, 2, 0x4444'3333, same}}));
}

TEST_CASE("artefact: 8 unaligned bytes of a VFP or NEON register") {
    constexpr std::uint8_t same = abi::flag_same_instruction;
    const auto read = [](std::uint32_t at) { return log_line(false, 0, uart + at, at, 4); };
    const std::string around = read(0) + read(4) + read(8) + read(12);
    std::string bytes;
    for (std::uint32_t i = 0; i < 8; ++i) {
        bytes += log_line(true, 0, uart + 4 + i, i + 1, 1);
    }
    SECTION("a load of two words") {
        CHECK(explained(compare(around, {{false, uart + 4, 2, 4}, {false, uart + 8, 2, 8, same}}),
                        Artefact::doubleword, 2));
    }
    SECTION("a load of four halfwords") {
        CHECK(explained(compare(around, {{false, uart + 2, 1, 0},
                                         {false, uart + 4, 1, 4, same},
                                         {false, uart + 6, 1, 0, same},
                                         {false, uart + 8, 1, 8, same}}),
                        Artefact::doubleword, 4));
    }
    SECTION("a store of two words") {
        CHECK(explained(compare(bytes, {{true, uart + 4, 2, 0x0403'0201},
                                        {true, uart + 8, 2, 0x0807'0605, same}}),
                        Artefact::doubleword, 2));
    }
    SECTION("eight bytes") {
        std::vector<Access> accesses;
        for (std::uint32_t i = 0; i < 8; ++i) {
            accesses.push_back({true, uart + i, 0, i, i == 0 ? std::uint8_t{0} : same});
        }
        const std::string words =
            log_line(true, 0, uart, 0x0302'0100, 4) + log_line(true, 0, uart + 4, 0x0706'0504, 4);
        CHECK(explained(compare(words, accesses), Artefact::doubleword, 8));
        accesses[5].value = 0;
        CHECK(!compare(words, accesses).differences.empty());
    }
    SECTION("of a device without a model") {
        CHECK(explained(compare(unmodelled_line(false, uart, 8),
                                {{false, uart, 2, 0}, {false, uart + 4, 2, 0, same}}),
                        Artefact::doubleword, 2));
        CHECK(
            explained(compare(unmodelled_line(false, uart, 8) + unmodelled_line(false, uart + 8, 8),
                              {{false, uart + 4, 2, 0}, {false, uart + 8, 2, 0, same}}),
                      Artefact::doubleword, 2));
    }
    SECTION("another value, another instruction, or one line fewer") {
        CHECK(!compare(around, {{false, uart + 4, 2, 4}, {false, uart + 8, 2, 9, same}})
                   .differences.empty());
        CHECK(!compare(bytes, {{true, uart + 4, 2, 0x0403'0201}, {true, uart + 8, 2, 1, same}})
                   .differences.empty());
        CHECK(!compare(around, {{false, uart + 4, 2, 4}, {false, uart + 8, 2, 8}})
                   .differences.empty());
        CHECK(!compare(read(0) + read(4) + read(8),
                       {{false, uart + 4, 2, 4}, {false, uart + 8, 2, 8, same}})
                   .differences.empty());
    }
}

TEST_CASE("artefact: an instruction that is not decoded has one record for all its lines") {
    constexpr std::uint8_t unknown = abi::flag_value_unknown;
    const auto read = [](std::uint32_t at) { return log_line(false, 0, uart + at, at, 4); };
    const auto write = [](std::uint32_t at) { return log_line(true, 0, uart + at, at, 4); };
    SECTION("VLDR of 8 bytes, twice") {
        CHECK(explained(compare(read(0) + read(4) + read(0) + read(4),
                                {{false, uart, 2, 0, unknown}, {false, uart, 2, 0, unknown}}),
                        Artefact::undecoded, 2));
    }
    SECTION("VLD1 of 8 bytes at 4 mod 8: QEMU reads around them") {
        CHECK(explained(
            compare(read(0) + read(4) + read(8) + read(12), {{false, uart + 4, 2, 0, unknown}}),
            Artefact::undecoded));
    }
    SECTION("SWP and STREX: a read and a write") {
        CHECK(explained(compare(read(8) + write(8), {{true, uart + 8, 2, 0, unknown}}),
                        Artefact::undecoded));
    }
    SECTION("STREXD: two reads and two writes") {
        CHECK(explained(
            compare(read(8) + read(12) + write(8) + write(12), {{true, uart + 8, 2, 0, unknown}}),
            Artefact::undecoded));
    }
    SECTION("LDREXB") {
        CHECK(explained(
            compare(log_line(false, 0, uart + 1, 7, 1), {{false, uart + 1, 2, 0, unknown}}),
            Artefact::undecoded));
    }
    SECTION("VLDR of 8 bytes of an unmodelled device: one line") {
        CHECK(explained(compare(unmodelled_line(false, uart, 8), {{false, uart, 2, 0, unknown}}),
                        Artefact::undecoded));
    }
    SECTION("the line of the next record is left for that record") {
        const verify::Result result =
            compare(read(0) + read(4), {{false, uart, 2, 0, unknown}, {false, uart + 4, 2, 4}});
        CHECK(result.differences.empty());
    }
    SECTION("VLDR of 8 bytes from a page's last word on took a fault, and is made again") {
        constexpr auto fault = abi::RecordType::fault;
        const auto unmade = static_cast<std::uint64_t>(abi::FaultReason::access_unknown);
        const std::string both = read(0xff8) + read(0xffc);
        const auto made = [](std::uint32_t value) {
            return std::vector<Access>{{false, uart + 0xffc, 2, unmade, unknown, fault},
                                       {false, uart + 0xffc, 2, value}};
        };
        CHECK(explained(compare(both + both, made(0xffc)), Artefact::undecoded));
        CHECK(explained(compare(read(0xffc) + read(0xffc), made(0xffc)), Artefact::undecoded));
        CHECK(!compare(both + both, made(0xff8)).differences.empty());
        CHECK(!compare(both + both + both, made(0xffc)).differences.empty());
    }
    SECTION("a line elsewhere does not belong to the record") {
        CHECK(compare(read(0) + read(8), {{false, uart, 2, 0, unknown}}).differences.size() == 1);
        CHECK(compare(read(0) + write(4), {{false, uart, 2, 0, unknown}}).differences.size() == 1);
        CHECK(!compare(read(0), {{true, uart, 2, 0, unknown}}).differences.empty());
    }
}

TEST_CASE(
    "artefact: eight bytes that the bus refused are one line, and the record has the first word") {
    Bus bus(0, 0);
    abi::Record record = access(0, 0, 100);
    record.type = abi::RecordType::fault;
    record.value = static_cast<std::uint64_t>(abi::FaultReason::external_abort);
    record.access = abi::encode_access(false, 2);
    record.pa_low = uart;
    bus.trace = {record};
    bus.log = {unmodelled_line(false, uart, 8)};
    CHECK(explained(bus.compare(), Artefact::unmodelled));
    bus.log = {unmodelled_line(true, uart, 8)};
    CHECK(!bus.compare().differences.empty());
}

TEST_CASE("artefact: an unmodelled device has neither CPU nor value") {
    CHECK(explained(compare(unmodelled_line(false, uart, 4), {{false, uart, 2, 0}}),
                    Artefact::unmodelled));
    CHECK(!compare(unmodelled_line(true, uart, 4), {{false, uart, 2, 0}}).differences.empty());
}

TEST_CASE("artefact: unaligned accesses to an unmodelled device, without a value") {
    const std::string read = unmodelled_line(false, uart, 4) + unmodelled_line(false, uart + 4, 4);
    CHECK(explained(compare(read, {{false, uart + 1, 2, 9}}), Artefact::unaligned_read));
    CHECK(!compare(unmodelled_line(false, uart, 4), {{false, uart + 1, 2, 9}}).differences.empty());
}

TEST_CASE("artefact: a model refuses a size; the line has an offset") {
    const std::string refused = "Invalid read at addr 0x44, size 1, region 'pl011', "
                                "reason: invalid size (min:4 max:4)\n";
    CHECK(explained(compare(refused, {{false, uart + 0x44, 0, 0}}), Artefact::rejected));
    CHECK(!compare(refused, {{false, uart + 0x48, 0, 0}}).differences.empty());
}

TEST_CASE("artefact: an external abort was on the bus, and has no value") {
    Bus bus(0, 0);
    abi::Record record = access(0, 0, 100);
    record.type = abi::RecordType::fault;
    record.value = static_cast<std::uint64_t>(abi::FaultReason::external_abort);
    bus.trace = {record};
    bus.log = {unmodelled_line(false, uart, 4)};
    CHECK(bus.compare().differences.empty());
}

TEST_CASE("artefact: an instruction that took an exception may have made some accesses, or none") {
    Bus bus(0, 0);
    abi::Record fault = access(0, 0, 100);
    fault.type = abi::RecordType::fault;
    fault.value = abi::fault_value(abi::FaultReason::access_unknown);
    fault.flags = abi::flag_value_unknown;
    fault.access = abi::encode_access(true, 2);
    fault.pa_low = uart;
    bus.trace = {fault};
    CHECK(bus.compare().differences.empty());
    const std::string first = log_line(true, 0, uart, 1, 4);
    bus.log = {first, log_line(true, 0, uart + 4, 2, 4)};
    CHECK(bus.compare().differences.empty());
    bus.log = {log_line(true, 0, uart + 8, 2, 4)};
    CHECK(bus.compare().differences.size() == 1); // missing
    bus.log = {log_line(false, 0, uart, 2, 4)};
    CHECK(!bus.compare().differences.empty());
}

TEST_CASE("artefact: a walk may be any reads in its page") {
    Bus bus(0, 0);
    abi::Record walk = access(0, 0, 100);
    walk.type = abi::RecordType::page_table_walk;
    walk.flags = abi::flag_value_unknown;
    walk.access = abi::encode_access(false, 2);
    walk.pa_low = uart & ~0xfffu;
    bus.trace = {walk};
    CHECK(bus.compare().differences.empty());
    bus.log = {log_line(false, 0, walk.pa_low + 0x204, 1, 4),
               log_line(false, 0, walk.pa_low + 0x204, 1, 4)};
    CHECK(bus.compare().differences.empty());
    bus.log = {log_line(true, 0, walk.pa_low + 0x204, 1, 4)};
    CHECK(!bus.compare().differences.empty());
    bus.log = {log_line(false, 0, walk.pa_low + 0x204, 1, 1)};
    CHECK(!bus.compare().differences.empty());
}

TEST_CASE("a report that a CPU waits or makes no progress is not an access to its device") {
    Bus bus(0, 0);
    abi::Record fault = access(0, 0, 100);
    fault.type = abi::RecordType::fault;
    fault.value = GENERATE(abi::fault_value(abi::FaultReason::lock_not_given_back, 1),
                           abi::fault_value(abi::FaultReason::lock_not_given_back, 8),
                           abi::fault_value(abi::FaultReason::no_progress));
    fault.lock_sequence = 0;
    bus.trace = {fault};
    CHECK(bus.compare().differences.empty());
}

TEST_CASE("artefact: accesses that no CPU made are left out") {
    Bus bus(0, 0);
    bus.log = {log_line(true, 0xffff'ffff, 0x1c01'0030, 0, 4, "arm-sysctl")};
    CHECK(bus.compare().differences.empty());
}
