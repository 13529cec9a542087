// Replays inputs that the fuzzers found, as tests.
#pragma once

#include "catch_2_or_3.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace mmioscope::test {

using FuzzFunction = int (*)(const unsigned char* data, unsigned long size);

/// Runs `function` of tests/fuzz/NAME.cpp with the inputs in tests/fuzz/corpus/NAME/.
inline void replay(const std::string& name, FuzzFunction function) {
    unsigned inputs = 0;
    for (const auto& file : std::filesystem::directory_iterator("tests/fuzz/corpus/" + name)) {
        std::ifstream stream(file.path(), std::ios::binary);
        const std::string bytes(std::istreambuf_iterator<char>(stream), {});
        INFO(file.path());
        CHECK(function(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()) == 0);
        ++inputs;
    }
    INFO(name);
    CHECK(inputs > 0);
}

} // namespace mmioscope::test
