// Ids of a database, not all of them in memory.
#include "catch_2_or_3.hpp"
#include "export/database.hpp"
#include "system/error.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

using namespace mmioscope;
using namespace mmioscope::exporting;

TEST_CASE("ids are given in the order of first use and never change, in memory or not") {
    const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                       ("known-ids-" + std::to_string(std::random_device()()));
    std::mt19937 random(14);
    for (const std::size_t most : {1u, 3u, 1000u}) {
        CAPTURE(most);
        std::ofstream(path).close(); // the database replaces an empty file
        {
            Database database(path, "a database");
            KnownIds ids(database, "known", most);
            KnownIds others(database, "others", most);
            std::map<std::string, std::uint64_t> model;
            for (unsigned i = 0; i < 2000; ++i) {
                // Any bytes: invalid UTF-8, and zeros.
                const std::string key =
                    std::string("\xff\0", 2) + std::to_string(random() % 200) + '\0';
                const auto [known, fresh] = model.try_emplace(key, model.size() + 1);
                const KnownIds::Id id = ids.of(key);
                REQUIRE(id.number == known->second);
                REQUIRE(id.fresh == fresh);
            }
            CHECK(others.of("one").number == 1);
        }
        std::filesystem::remove(path);
    }
}
