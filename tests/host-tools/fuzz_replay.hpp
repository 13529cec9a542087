// The fuzzers' functions, so that the tests give them the inputs that are kept.
#pragma once

#include <map>
#include <string>

namespace mmioscope::test {

using FuzzFunction = int (*)(const unsigned char* data, unsigned long size);

/// By name of tests/fuzz/NAME.cpp; those of the hypervisor's own sources are left out. Generated.
std::map<std::string, FuzzFunction> fuzz_functions();

} // namespace mmioscope::test
