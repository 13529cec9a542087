// The fuzzers' functions, so that the tests give them the inputs that are kept.
#pragma once

#include "../fuzz/replay.hpp"

#include <map>
#include <string>

namespace mmioscope::test {

/// By name of tests/fuzz/NAME.cpp; those of the hypervisor's own sources are left out, which
/// tests/unit/base/fuzz_corpus_test.cpp has. Generated.
std::map<std::string, FuzzFunction> fuzz_functions();

} // namespace mmioscope::test
