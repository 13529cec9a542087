#include "catch_2_or_3.hpp"
#include "symbols/kernel_image.hpp"

#include <cstring>

using namespace mmioscope;
using symbols::KernelText;

namespace {

constexpr std::uint32_t base = 0xc020'8000;
constexpr std::uint32_t push_r4_lr = 0xe92d'4010, push_lr = 0xe52d'e004, mov_r0_r1 = 0xe1a0'0001;

struct Kernel {
    std::vector<std::byte> memory{1 << 20};
    symbols::SymbolList symbols;

    void add(std::uint32_t offset, std::uint32_t word) {
        std::memcpy(memory.data() + offset, &word, sizeof word);
        symbols.push_back({base + offset, 't', "f", ""});
    }
};

} // namespace

TEST_CASE("where a kernel lies follows from what its functions begin with") {
    Kernel kernel;
    for (std::uint32_t n = 0; n < 300; ++n) {
        const std::uint32_t words[] = {push_r4_lr, push_lr, push_r4_lr, mov_r0_r1};
        kernel.add(0x9'0000 + n * 0x54, words[n % 4]);
    }
    const KernelText text(kernel.memory, kernel.symbols);
    REQUIRE(text.base() == base);
    CHECK(text.word(base + 0x9'0000) == push_r4_lr);
    CHECK(text.word(base + 0x9'0054) == push_lr);
    CHECK(text.word(base + (1 << 20) - 4) == 0u);
    CHECK(text.word(base + (1 << 20) - 3) == std::nullopt);
    CHECK(text.word(base - 4) == std::nullopt);
    CHECK(text.word(0xffff'fffc) == std::nullopt);
}

TEST_CASE("a kernel without functions that save LR lies nowhere") {
    Kernel kernel;
    CHECK(KernelText(kernel.memory, kernel.symbols).base() == std::nullopt);
    for (std::uint32_t n = 0; n < 300; ++n) {
        kernel.add(0x9'0000 + n * 0x54, mov_r0_r1);
    }
    const KernelText text(kernel.memory, kernel.symbols);
    CHECK(text.base() == std::nullopt);
    CHECK(text.word(base + 0x9'0000) == std::nullopt);
    CHECK(KernelText({}, kernel.symbols).base() == std::nullopt);
}
