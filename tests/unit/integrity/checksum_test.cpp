// The changes that the checksum of constant data certainly detects (integrity/checksum.hpp).
#include "integrity/checksum.hpp"

#include "catch_2_or_3.hpp"
#include "sim/random.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

using Words = std::vector<std::uint32_t>;

std::uint64_t sum_of(const Words& words) {
    return checksum(reinterpret_cast<const std::uint8_t*>(words.data()), 4 * words.size());
}

Words random_words(Random& random, std::size_t count) {
    Words words(count);
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random.next());
    return words;
}

constexpr std::size_t most_words = checksum_size / 4;

/// How much the checksum grows when a word grows by 1.
std::vector<std::uint64_t> weights() {
    std::vector<std::uint64_t> weights;
    for (std::size_t n = 0; n < most_words; ++n) weights.push_back(checksum_of_change(4 * n, 0, 1));
    return weights;
}

} // namespace

TEST_CASE("a checksum is the sum of its words by their weights, whatever their number") {
    Random random(1);
    for (std::size_t count = 0; count <= most_words; count += count < 40 ? 1 : 41) {
        const Words words = random_words(random, count);
        std::uint64_t expected = 0;
        for (std::size_t n = 0; n < count; ++n) expected += weights()[n] * words[n];
        CHECK(sum_of(words) == expected);
    }
}

TEST_CASE("a checksum follows the change of a word") {
    Random random(2);
    Words words = random_words(random, most_words);
    std::uint64_t sum = sum_of(words);
    for (std::size_t n = 0; n < most_words; ++n) {
        const auto value = static_cast<std::uint32_t>(random.next());
        sum += checksum_of_change(4 * n, words[n], value);
        words[n] = value;
        REQUIRE(sum_of(words) == sum);
    }
}

// The difference is below 2^32 in either direction, and 2^64 does not divide its product with such
// a weight: at an even place because both are below 2^32, at an odd one because the weight is odd.
TEST_CASE("any difference of one word is detected") {
    const auto all = weights();
    for (std::size_t n = 0; n < most_words; ++n) {
        REQUIRE(all[n] % 2 == 1);
        if (n % 2 == 0) REQUIRE(all[n] < std::uint64_t{1} << 32);
    }
    Random random(3);
    Words words = random_words(random, most_words);
    const std::uint64_t sum = sum_of(words);
    for (std::uint32_t& word : words)
        for (unsigned bit = 0; bit < 32; ++bit) {
            word ^= 1u << bit;
            REQUIRE(sum_of(words) != sum);
            word ^= 1u << bit;
        }
}

// For two bits of different value the lower one decides. For two of the same value, 2^a with a
// below 32, 2^(64-a) would have to divide the sum or the difference of their words' weights.
TEST_CASE("any two flipped bits are detected") {
    const auto all = weights();
    constexpr std::uint64_t smallest = (std::uint64_t{1} << 33) - 1;
    for (std::size_t a = 0; a < most_words; ++a)
        for (std::size_t b = 0; b < a; ++b)
            if (((all[a] + all[b]) & smallest) == 0 || ((all[a] - all[b]) & smallest) == 0)
                FAIL("words " << a << " and " << b);
    SUCCEED();
}

// d * v == e * w, with v and w divided by their common divisor, requires a d of at least w.
TEST_CASE("two words in even places, or in odd ones, must differ by much to go undetected") {
    const auto all = weights();
    std::uint64_t least = ~std::uint64_t{0};
    for (std::size_t a = 0; a < most_words; a += 2)
        for (std::size_t b = 0; b < a; b += 2) {
            REQUIRE(all[b] - all[a] <= 1022);
            least = std::min(least, all[a] / std::gcd(all[a], all[b]));
        }
    CHECK(least > std::uint64_t{1} << 22);
    CHECK(((std::uint64_t{1} << 32) - 1) / least * 2 <= 1002);
    // The odd places have the same weights, times one factor.
    for (std::size_t n = 0; n < most_words; n += 2) REQUIRE(all[n + 1] * all[0] == all[n] * all[1]);
}
