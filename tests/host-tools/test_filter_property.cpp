// Random filters: printed and parsed again, they are the same.
#include "filter/filter.hpp"
#include "sample_event.hpp"
#include "system/error.hpp"

#include <random>

using namespace mmioscope;
using namespace mmioscope::test;
using filter::Filter;

namespace {

using Random = std::mt19937;

unsigned below(Random& random, std::size_t limit) {
    return std::uniform_int_distribution<unsigned>(0, static_cast<unsigned>(limit) - 1)(random);
}

template <std::size_t N>
const char* one_of(Random& random, const char* const (&all)[N]) {
    return all[below(random, N)];
}

/// One that is compared as a text, or as a number.
const filter::EventField& field_of(Random& random, bool text) {
    const filter::EventField& field = filter::fields[below(random, std::size(filter::fields))];
    return field.word().empty() || text != (field.any != nullptr) ? field_of(random, text) : field;
}

std::string number_test(Random& random) {
    const filter::EventField& field = field_of(random, false);
    const bool time = field.unit == filter::EventField::Unit::time;
    const auto value = [&] {
        return time ? one_of(random, {"0", "1.5", "40ns", "0.00004ms", "2s"})
                    : one_of(random, {"0", "1", "4", "0x121", "0x18", "57", "0xffffffffffffffff"});
    };
    const std::string mask = below(random, 4) == 0 ? " & 0xff" : "";
    switch (below(random, 4)) {
    case 0: return std::string(field.word()) + mask;
    case 1: return fmt::format("{}{} not in ({}, {})", field.word(), mask, value(), value());
    case 2: return fmt::format("{}{} in {}..{}", field.word(), mask, "0", value());
    default:
        return fmt::format("{}{} {} {}", field.word(), mask,
                           one_of(random, {"==", "!=", "<", "<=", ">", ">="}), value());
    }
}

std::string text_test(Random& random) {
    const std::string_view field = field_of(random, true).word();
    const auto value = [&] {
        return one_of(random, {"serial0", "s*", "\"a \"\"quoted\"\" (one)\"", "'*'", "FR",
                               "pl011_*", "57", "kworker/0:1", "??", "kernel", "*"});
    };
    switch (below(random, 4)) {
    case 0: return std::string(field);
    case 1: return fmt::format("{} in ({}, {})", field, value(), value());
    case 2:
        return fmt::format("{} {} {}", field, one_of(random, {"=~", "!~"}),
                           one_of(random, {"\"^p.*s$\"", "0", "\"[\"\"a-f]\""}));
    default: return fmt::format("{} {} {}", field, one_of(random, {"==", "!="}), value());
    }
}

std::string bits_test(Random& random) {
    const char* const what = one_of(random, {"FR.TXFF", "field(MODE)", "field(FR, B*)", "*.MODE"});
    return what + std::string(one_of(random, {"", " == 1", " == run", " != idle", " in (0, idle)",
                                              " & 1", " < 0", " >= 1", " not in 1..4"}));
}

std::string expression(Random& random, unsigned depth) {
    if (depth == 0) {
        const unsigned kind = below(random, 5);
        return kind < 2 ? number_test(random) : kind < 4 ? text_test(random) : bits_test(random);
    }
    const std::string left = expression(random, depth - 1);
    switch (below(random, 4)) {
    case 0: return "!(" + left + ")";
    case 1: return "(" + left + ") && " + expression(random, depth - 1);
    case 2: return left + " or " + expression(random, depth - 1);
    default: return left + " and not (" + expression(random, depth - 1) + ")";
    }
}

void make_other(Random& random, SampleEvent& sample) {
    sample.record.type = static_cast<abi::RecordType>(1 + below(random, 13));
    sample.record.value = below(random, 2) == 0 ? 0x20 : 0x121;
    sample.record.cpu = static_cast<std::uint8_t>(below(random, 2));
    sample.record.access = static_cast<std::uint8_t>(below(random, 256));
    sample.record.flags = static_cast<std::uint8_t>(below(random, 32));
    sample.given.offset = 0x18 + below(random, 2);
    sample.given.reg = below(random, 3) == 0 ? nullptr : &sample.reg;
    sample.given.code = below(random, 3) == 0 ? nullptr : &sample.code;
    sample.given.task = below(random, 3) == 0 ? nullptr : &sample.task;
}

} // namespace

TEST_CASE("a random filter means the same in parentheses, and negated twice") {
    Random random(42);
    unsigned true_ones = 0;
    for (unsigned i = 0; i < 3'000; ++i) {
        const std::string text = expression(random, below(random, 4));
        INFO(text);
        const Filter filter(text);
        const Filter again("!(!(" + text + ") || cpu < 0)");
        for (unsigned k = 0; k < 8; ++k) {
            SampleEvent sample;
            make_other(random, sample);
            const bool expected = filter(sample.event());
            true_ones += expected ? 1 : 0;
            REQUIRE(again(sample.event()) == expected);
        }
    }
    CHECK(true_ones > 3'000); // neither result is constant
    CHECK(true_ones < 21'000);
}
