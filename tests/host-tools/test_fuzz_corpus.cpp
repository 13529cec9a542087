// What the fuzzers have found worth keeping goes through them again, under this binary's
// sanitizers.
#include "fuzz_replay.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace mmioscope::test;

TEST_CASE("the inputs kept of the fuzzers find nothing") {
    for (const auto& [name, function] : fuzz_functions()) {
        unsigned inputs = 0;
        for (const auto& file : std::filesystem::directory_iterator("tests/fuzz/corpus/" + name)) {
            std::ifstream stream(file.path(), std::ios::binary);
            const std::string bytes(std::istreambuf_iterator<char>(stream), {});
            INFO(file.path());
            CHECK(function(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()) ==
                  0);
            ++inputs;
        }
        INFO(name);
        CHECK(inputs > 0);
    }
}
