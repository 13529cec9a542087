// The filter language: each word matches only its own type, mode or flag.
#include "filter/field.hpp"
#include "filter/filter.hpp"
#include "sample_event.hpp"

using namespace mmioscope;
using namespace mmioscope::test;
using filter::Filter;

namespace {

using Type = abi::RecordType;

/// Those of `words` that match `event`.
std::string true_of(const Event& event, std::initializer_list<const char*> words) {
    std::string found;
    for (const char* const word : words) {
        if (Filter(word)(event)) {
            found += (found.empty() ? "" : " ") + std::string(word);
        }
    }
    return found;
}

} // namespace

TEST_CASE("a word for a mode matches that mode only") {
    const std::vector<std::pair<std::string, unsigned>> all = {
        {"usr", 0x10}, {"user", 0x10}, {"fiq", 0x11}, {"irq", 0x12}, {"svc", 0x13},
        {"mon", 0x16}, {"abt", 0x17},  {"hyp", 0x1a}, {"und", 0x1b}, {"sys", 0x1f}};
    SampleEvent sample;
    for (const auto& [word, mode] : all) {
        for (const auto& [other, its] : all) {
            CAPTURE(word, other);
            sample.record.mode = static_cast<std::uint8_t>(its | abi::mode_thumb);
            CHECK(Filter("mode==" + word)(sample.event()) == (mode == its));
        }
    }
}

TEST_CASE("a word for a flag matches that flag only") {
    SampleEvent sample;
    const auto flags = [&sample](std::uint8_t bits) {
        sample.record.flags = bits;
        return true_of(sample.event(), {"unknown", "early", "boot", "estimated"});
    };
    CHECK(flags(abi::flag_value_unknown) == "unknown");
    CHECK(flags(abi::flag_early) == "early");
    CHECK(flags(abi::flag_boot) == "boot");
    CHECK(flags(abi::flag_estimated) == "estimated");
    CHECK(flags(abi::flag_same_instruction).empty());
}

TEST_CASE("the meaning of a value depends on the type of the record") {
    SampleEvent sample;
    sample.record.value = 0x121;
    const auto valued = [&sample](Type type) {
        sample.record.type = type;
        return true_of(sample.event(), {"value==0x121", "FR.MODE==run"});
    };
    CHECK(valued(Type::access) == "value==0x121 FR.MODE==run");
    CHECK(valued(Type::begin) == "value==0x121 FR.MODE==run");
    CHECK(valued(Type::own) == "value==0x121 FR.MODE==run");
    CHECK(valued(Type::page_table_walk) == "value==0x121 FR.MODE==run");
    CHECK(valued(Type::marker) == "value==0x121");
    CHECK(valued(Type::fault) == "value==0x121"); // its value is the reason
    CHECK(valued(Type::power) == "value==0x121");
    CHECK(valued(Type::gap).empty());
}

TEST_CASE("sequence numbers of the CPU and of the lock are not mixed up") {
    SampleEvent sample;
    sample.record.cpu_sequence = 11;
    sample.record.lock_sequence = 12;
    CHECK(true_of(sample.event(), {"seq==11", "seq==12", "order==11", "order==12"}) ==
          "seq==11 order==12");
}

TEST_CASE("a regular expression is case-sensitive where its field is") {
    const SampleEvent sample;
    CHECK(true_of(sample.event(), {"reg =~ \"^fr$\"", "reg =~ \"^FR$\"", "comm =~ \"^kworker\"",
                                   "comm =~ \"^KWORKER\"", "dev =~ \"^Serial\""}) ==
          "reg =~ \"^fr$\" reg =~ \"^FR$\" comm =~ \"^kworker\"");
}
