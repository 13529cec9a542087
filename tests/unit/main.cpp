// main() of the tests, and with Catch2 2 its own code.
#define CATCH_CONFIG_RUNNER
#include "catch_2_or_3.hpp"

int main(int count, char** words) {
    return Catch::Session().run(count, words);
}
