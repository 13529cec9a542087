// Mappings of pages, not all of them in memory.
#include "catch_2_or_3.hpp"
#include "export/page_mappings.hpp"

#include <map>
#include <random>

using namespace mmioscope::exporting;

TEST_CASE("mappings of pages are those reported last, in memory or not") {
    std::mt19937_64 random(13);
    for (const std::size_t most : {1u, 7u, 10'000u}) {
        CAPTURE(most);
        PageMappings mappings(most);
        std::map<std::uint64_t, std::uint64_t> model;
        for (std::uint64_t id = 1; id <= 5000; ++id) {
            // Virtual pages and, far above them, physical ones.
            const std::uint64_t number = random() % 100 + (random() % 2 << 28);
            PageMappings::Mapping& mapping = mappings.of(number);
            REQUIRE(mapping.id == model[number]);
            REQUIRE(mapping.page == 2 * model[number]);
            mapping = {2 * id, id};
            model[number] = id;
        }
    }
}
