// Replays the fuzzers' saved inputs for the hypervisor's own sources under this binary's
// sanitizers.
#include "fuzz/replay.hpp"

using namespace mmioscope::test;

extern "C" int fuzz_requests(const unsigned char* data, unsigned long size);
extern "C" int fuzz_device_tree(const unsigned char* data, unsigned long size);

TEST_CASE("the inputs kept from the hypervisor's fuzzers find nothing") {
    replay("requests", fuzz_requests);
    replay("device_tree", fuzz_device_tree);
}
