#include "base/address.hpp"
#include "base/fixed_vector.hpp"
#include "base/print.hpp"
#include "catch_2_or_3.hpp"

#include <string>

using namespace mmioscope;

namespace {
struct Text : TextSink {
    std::string text;
    void put(char c) override { text += c; }
};
template <class... Args>
std::string printed(const Args&... args) {
    Text out;
    print(out, args...);
    return out.text;
}
} // namespace

TEST_CASE("numbers and lines are printed as on a terminal without a driver") {
    CHECK(printed("a\nb") == "a\r\nb");
    CHECK(printed(std::uint32_t{0}, " ", std::uint32_t{4'294'967'295}) == "0 4294967295");
    CHECK(printed(Hex{0x1c}) == "0x0000001c");
    CHECK(printed(Hex{0x1'0000'001c}) == "0x10000001c");
    CHECK(printed(Hex{0xfedc'ba98'7654'3210, 1}) == "0xfedcba9876543210");
}

TEST_CASE("a full vector of fixed size refuses more elements and stays as it was") {
    FixedVector<int, 3> v;
    REQUIRE(v.push_back(1));
    REQUIRE(v.push_back(3));
    REQUIRE(v.insert(1, 2));
    CHECK(!v.push_back(4));
    CHECK(!v.insert(0, 0));
    CHECK(std::vector<int>(v.begin(), v.end()) == std::vector<int>{1, 2, 3});
    v.erase(0);
    CHECK(v.size() == 2);
    CHECK(v[0] == 2);
}

TEST_CASE("ranges that touch do not overlap") {
    constexpr Range a{0x1000, 0x2000};
    CHECK(!a.overlaps({0x2000, 0x3000}));
    CHECK(a.overlaps({0x1fff, 0x3000}));
    CHECK(a.contains(0x1fff));
    CHECK(!a.contains(0x2000));
    CHECK(page_ceil(0x1001) == 0x2000);
    CHECK(page_floor(0x1fff) == 0x1000);
}
