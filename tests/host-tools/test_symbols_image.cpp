// Symbols from a kernel's image.
#include "../sim/random.hpp"
#include "catch_2_or_3.hpp"
#include "kernel_maker.hpp"
#include "symbols/kallsyms_tables.hpp"
#include "symbols/kernel_image.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <random>
#include <span>

using namespace mmioscope;
using namespace mmioscope::test;
using namespace std::string_view_literals;
using symbols::SymbolList;

namespace {

SymbolList some_symbols(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789__..$";
    SymbolList all;
    const auto below = [&random](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    std::uint32_t address = 0xc000'8000 + 4 * below(0x10'0000);
    for (std::size_t i = 0; i < count; ++i, address += 4 * below(64)) {
        std::string name = "_";
        // Names from Rust, and derived names, have hundreds of characters.
        const std::size_t length = random() % 100 == 0 ? 100 + random() % 400 : 1 + random() % 30;
        while (name.size() < length) {
            name += letters[random() % letters.size()];
        }
        all.push_back({address, "tTWwDd" [random() % 6], name, {}});
    }
    return all;
}

const std::vector<Layout> layouts{
    {},
    {.absolute = true},
    {.order = true},
    {.order = true, .absolute = true},
    {.addresses_last = true, .order = true},
};

} // namespace

TEST_CASE("symbols are found in tables of every layout, whatever surrounds them") {
    for (const Layout& layout : layouts) {
        for (unsigned seed = 0; seed < 3 + sim::seeds(1); ++seed) {
            const std::size_t count = seed == 0   ? 16
                                      : seed == 1 ? 256
                                      : seed == 2 ? 257
                                                  : seed * 201;
            CAPTURE(layout.addresses_last, layout.order, layout.absolute, seed, count);
            const SymbolList all = some_symbols(count, seed);
            const std::vector<std::byte> image = kallsyms_image(all, layout, seed);
            CHECK(symbols::read_tables(image) == all);
        }
    }
}

TEST_CASE("a zImage's payload is found after code that looks like one") {
    const SymbolList all = some_symbols(3000, 1);
    std::vector<std::byte> kernel = kallsyms_image(all, {.order = true}, 1);
    constexpr std::string_view words = "Linux version %s (%s)\n\0Linux version 6.1.0 (me) # SMP\n\0"
                                       "Linux version 6.1.0 (me) #1 SMP\n"sv;
    const auto bytes = std::as_bytes(std::span(words));
    kernel.insert(kernel.end(), bytes.begin(), bytes.end());
    using test::Payload;
    for (const Payload payload :
         {Payload::xz, Payload::lzma, Payload::gzip, Payload::lz4, Payload::zstd}) {
        CAPTURE(static_cast<int>(payload));
        const symbols::KernelImage image = symbols::read_kernel_image(zimage(kernel, payload));
        CHECK(image.symbols == all);
        CHECK(image.banner == "Linux version 6.1.0 (me) #1 SMP");
    }
}

TEST_CASE("damaged tables give no symbols, or as many as undamaged ones") {
    const SymbolList all = some_symbols(600, 3);
    for (const Layout& layout : layouts) {
        const std::vector<std::byte> image = kallsyms_image(all, layout, 3);
        std::mt19937 random(4);
        for (int i = 0; i < 80; ++i) {
            std::vector<std::byte> damaged = image;
            damaged[random() % damaged.size()] ^= static_cast<std::byte>(1u << random() % 8);
            const std::size_t count = symbols::read_tables(damaged).size();
            CHECK((count == 0 || count == all.size()));
            damaged.resize(random() % damaged.size());
            (void)symbols::read_tables(damaged);
        }
    }
}

TEST_CASE("an image that is not a kernel is reported as such") {
    const std::vector<std::byte> nothing(5000);
    CHECK_THROWS_WITH(symbols::read_kernel_image(nothing), Catch::Contains("no symbols found"));
    CHECK_THROWS_WITH(symbols::read_kernel_image({}), Catch::Contains("no symbols found"));
}

namespace {

std::vector<std::byte> repeated(std::string_view text, std::size_t times) {
    const auto bytes = std::as_bytes(std::span(text));
    std::vector<std::byte> all;
    for (; times > 0; --times) {
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
}

} // namespace

TEST_CASE("the parts of a payload cost no more than what they expand to") {
    constexpr std::size_t blocks = 1u << 20;
    std::vector<std::byte> packed = repeated("\x02\x21\x4c\x18"sv, 1);
    const auto tiny = repeated("\x02\0\0\0\x10x"sv, blocks); // each expands to an x
    packed.insert(packed.end(), tiny.begin(), tiny.end());
    constexpr std::size_t limit = 256u << 20;
    CHECK(symbols::expand(symbols::Packing::lz4, packed, limit) == repeated("x", blocks));
    CHECK(symbols::expand(symbols::Packing::lz4, packed, 1'000) == repeated("x", 1'000));
    // Blocks that contain the start of a stream again: each is tried, but not for ever.
    const auto nested = repeated("\x05\0\0\0\x40\x02\x21\x4c\x18"sv, 20'000);
    CHECK_THROWS_WITH(symbols::read_kernel_image(nested), Catch::Contains("no symbols found"));
}
