// A map by name, with only a part of it in memory.
#include "../sim/random.hpp"
#include "catch_2_or_3.hpp"
#include "system/sorted_runs.hpp"
#include "system/spilled_map.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace mmioscope;

namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

// Merges the values of one key in the order of their bytes, independent of the order of input.
void join(std::string& value, std::string_view other) {
    value.append(other);
    std::ranges::sort(value);
}

Entries all_of(const SortedRuns& runs) {
    Entries all;
    runs.each([&all](std::string_view key, std::string_view value) {
        all.emplace_back(key, value);
        return true;
    });
    return all;
}

std::size_t open_files() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

struct Sum {
    unsigned long number = 0;
    void add(const Sum& other) { number += other.number; }
};

/// One that cannot be copied as bytes.
struct NamedSum {
    unsigned long number = 0;
    std::string name = "sum";
    void add(const NamedSum& other) { number += other.number; }
    std::string bytes_of() const { return name + std::to_string(number); }
    static NamedSum of(std::string_view bytes) {
        return {std::stoul(std::string(bytes.substr(3))), std::string(bytes.substr(0, 3))};
    }
};

} // namespace

TEST_CASE("runs are read as one, each key once, with all its values joined") {
    std::mt19937 random(11);
    for (const unsigned count : {1u, 7u, 8u, 9u, 64u, 200u}) {
        CAPTURE(count);
        std::map<std::string, std::string> model;
        SortedRuns runs(join);
        for (unsigned i = 0; i < count; ++i) {
            std::map<std::string, std::string> run;
            for (auto n = random() % 40; n > 0; --n) {
                // Keys of any bytes; sometimes longer than what is read at once.
                std::string key = std::to_string(random() % 300) + '\0' + static_cast<char>(0xff);
                key.resize(random() % 100 == 0 ? 10'000 : key.size(), 'x');
                run[key] = std::string(1, static_cast<char>('a' + random() % 26));
            }
            for (const auto& [key, value] : run) {
                runs.put(key, value);
                join(model[key], value);
            }
            runs.end_run();
        }
        CHECK(all_of(runs) == Entries(model.begin(), model.end()));
        CHECK(all_of(runs) == all_of(runs));
    }
}

TEST_CASE(
    "the number of run files grows with the logarithm of the runs, and equal keys are joined") {
    const std::size_t before = open_files();
    SortedRuns runs(join);
    for (unsigned i = 0; i < 8 * 8 * 8 * 8; ++i) {
        runs.put("key", "");
        runs.end_run();
    }
    CHECK(open_files() - before == 5);
    CHECK(all_of(runs) == Entries{{"key", ""}});
}

TEST_CASE("runs are read no further than the reader wants") {
    SortedRuns runs(join);
    CHECK(runs.empty());
    for (const char* key : {"a", "b", "c"}) {
        runs.put(key, "");
    }
    runs.end_run();
    CHECK_FALSE(runs.empty());
    std::string read;
    runs.each([&read](std::string_view key, std::string_view) {
        read += key;
        return key != "b";
    });
    CHECK(read == "ab");
}

TEST_CASE("keys made from numbers sort in the order of the numbers") {
    CHECK(key_of(1) < key_of(2));
    CHECK(key_of(0xff) < key_of(0x100));
    CHECK(key_of(1) < key_of(~std::uint64_t{0}));
    CHECK(number_of(key_of(0x0123'4567'89ab'cdef) + "behind") == 0x0123'4567'89ab'cdef);
}

TEMPLATE_TEST_CASE("a map with a part in files has the same content as one in memory", "", Sum,
                   NamedSum) {
    std::mt19937 random(12);
    for (const std::size_t most : {1u, 3u, 100u, 1000u}) {
        CAPTURE(most);
        SpilledMap<TestType> spilled(most);
        CHECK(spilled.empty());
        std::map<std::string, unsigned long> model;
        for (unsigned i = 0; i < 5000; ++i) {
            const std::string name = std::to_string(random() % 200);
            spilled.of(name).number += i;
            model[name] += i;
            REQUIRE(spilled.held().size() <= most);
        }
        CHECK_FALSE(spilled.empty());
        CHECK(spilled.holds_all() == (most >= model.size()));
        for (unsigned twice = 0; twice < 2; ++twice) {
            auto next = model.begin();
            spilled.each([&](std::string_view name, const TestType& sum) {
                REQUIRE(next != model.end());
                CHECK(name == next->first);
                CHECK(sum.number == next->second);
                ++next;
                return true;
            });
            CHECK(next == model.end());
        }
    }
}
