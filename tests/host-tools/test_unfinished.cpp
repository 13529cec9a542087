// Accesses in whose middle a recording ended, and what they say of the trace.
#include "file/unfinished.hpp"

#include "catch_2_or_3.hpp"

using namespace mmioscope;
using namespace mmioscope::trace;

namespace {

const std::vector<UnfinishedAccess> two{{1, 0xc010'0000, 0x1c09'0018, 12}, {2, 4, 0x480, ~0ull}};

std::map<std::string, std::string> as_text(std::string lines) {
    std::map<std::string, std::string> text;
    while (!lines.empty()) {
        const std::string line = lines.substr(0, lines.find('\n'));
        text[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
        lines.erase(0, line.size() + 1);
    }
    return text;
}

} // namespace

TEST_CASE("unfinished accesses are read as they were written") {
    auto text = as_text(lines_of(two));
    text["recorded"] = "in-flight.cpu3=pa 1 pc 2 time 3";
    text["in-flight.cpu4"] = "pa 0x10 pc";
    text["in-flight.cpu"] = "pa 0x10 pc 0x10 time 1";
    const auto read = unfinished_accesses(text);
    REQUIRE(read.size() == 2);
    for (unsigned n = 0; n < 2; ++n) {
        CHECK(read[n].cpu == two[n].cpu);
        CHECK(read[n].pa == two[n].pa);
        CHECK(read[n].pc == two[n].pc);
        CHECK(read[n].time == two[n].time);
    }
}

TEST_CASE("an unfinished access makes a trace incomplete, unless the machine would have gone on") {
    using enum abi::Ending;
    for (const abi::Ending ending : {machine_off, machine_reset, halted}) {
        CHECK(why_unfinished(two, ending) == "cpu 1 was in the middle of an access to 0x1c090018, "
                                             "cpu 2 was in the middle of an access to 0x00000480");
        CHECK(why_unfinished({}, ending).empty());
    }
    for (const abi::Ending ending :
         {interrupted, time_limit, failed, stream_ended, continued, said})
        CHECK(why_unfinished(two, ending).empty());
    CHECK(why_unfinished(two, std::nullopt).empty());
    CHECK(why_unfinished({}, panicked).empty());
    CHECK(why_unfinished(std::span(two).first(1), panicked) ==
          "the hypervisor stopped, cpu 1 was in the middle of an access to 0x1c090018");
}
