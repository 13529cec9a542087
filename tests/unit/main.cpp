// main() of the tests, and with Catch2 2 its own code.
#define CATCH_CONFIG_RUNNER
#include "catch_2_or_3.hpp"

int main(int count, char** words) {
    return Catch::Session().run(count, words);
}

/// Stacks of allocations are short in AddressSanitizer's reports, because to keep them takes a fifth
/// of the tests' time. ASAN_OPTIONS=malloc_context_size=30 has them whole.
extern "C" const char* __asan_default_options() {
    return "malloc_context_size=3";
}
