// A map of limited size.
#include "../sim/random.hpp"
#include "catch_2_or_3.hpp"
#include "system/capped_map.hpp"

#include <map>
#include <random>
#include <unordered_map>

using namespace mmioscope;

using Sums = std::map<unsigned, unsigned long>;
using UnorderedSums = std::unordered_map<unsigned, unsigned long>;

TEMPLATE_TEST_CASE("a capped map keeps the first keys, and all else in one sum", "", Sums,
                   UnorderedSums) {
    std::mt19937 random(12);
    for (const std::size_t most : {1u, 3u, 100u, 1000u}) {
        CAPTURE(most);
        CappedMap<TestType> capped(most);
        Sums kept;
        unsigned long rest = 0;
        for (unsigned i = 0; i < 5000; ++i) {
            const auto key = static_cast<unsigned>(random() % 200);
            unsigned long& sum = capped.of(key);
            REQUIRE(capped.is_rest(sum) == (!kept.contains(key) && kept.size() == most));
            (capped.is_rest(sum) ? rest : kept[key]) += i;
            sum += i;
        }
        CHECK(Sums(capped.held().begin(), capped.held().end()) == kept);
        CHECK(capped.rest() == rest);
    }
}

TEST_CASE("what has no room is told in a line") {
    std::vector<std::string> lines;
    add_left_out(lines, 0, "accesses of tasks", 7);
    CHECK(lines.empty());
    add_left_out(lines, 12, "accesses of tasks", 7);
    CHECK(lines == std::vector<std::string>{
                       "... 12 accesses of tasks beyond the first 7 are left out: choose fewer "
                       "(-F, --cpu, --from, --to)"});
}
