// Replays the fuzzers' saved inputs under this binary's sanitizers.
#include "fuzz_replay.hpp"

using namespace mmioscope::test;

TEST_CASE("the inputs kept from the fuzzers find nothing") {
    for (const auto& [name, function] : fuzz_functions()) {
        replay(name, function);
    }
}
