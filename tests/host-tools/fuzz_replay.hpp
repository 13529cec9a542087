// The fuzzers' functions, so that the tests can replay saved inputs.
#pragma once

#include "../fuzz/replay.hpp"

#include <map>
#include <string>

namespace mmioscope::test {

/// By name of tests/fuzz/NAME.cpp, without those for the hypervisor's own sources, which are in
/// tests/unit/base/fuzz_corpus_test.cpp. Generated.
std::map<std::string, FuzzFunction> fuzz_functions();

} // namespace mmioscope::test
