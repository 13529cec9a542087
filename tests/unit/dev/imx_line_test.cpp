// An i.MX UART as a line: every byte that it accepts arrives, in order, whatever the reader does,
// and nobody waits for it.
#include "catch_2_or_3.hpp"
#include "sim/imx_uart.hpp"
#include "unit/dev/line_fixture.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint64_t base = 0x30a8'0000;

/// A line with a model of its UART.
class Fixture : public LineFixture<ImxUartModel> {
public:
    Fixture()
        : LineFixture({UartModel::imx, {base}, 0, 2}, 0x1000, std::make_unique<ImxUartModel>()) {}
};

} // namespace

TEST_CASE("an i.MX UART is set up for the baud rate, without interrupts", "[imx]") {
    struct Rate {
        std::uint32_t clock, baud, denominator;
    };
    for (const Rate rate : {Rate{24'000'000, 115'200, 207}, Rate{24'000'000, 3'000'000, 7},
                            Rate{24'000'000, 100'000'000, 0}, Rate{1'000'000'000, 300, 0xffff}}) {
        Fixture f;
        f.uart->registers[0x90] = 1 << 6 | 7 << 10; // UFCR as the boot loader left it: a DTE
        f.start(rate.clock, rate.baud);
        CHECK(f.uart->registers[0xa4] == 15); // UBIR, and behind it UBMR
        CHECK(f.uart->registers[0xa8] == rate.denominator);
        CHECK(f.uart->registers[0x90] == (2 << 10 | 5 << 7 | 1 << 6 | 1));
        CHECK(f.uart->registers[0x80] == 1);
        CHECK(f.uart->registers[0x84] == 0x4027);
        CHECK(f.uart->order ==
              std::vector<std::uint64_t>{0x80, 0x84, 0x88, 0x8c, 0x90, 0xa4, 0xa8, 0x80});
        CHECK(f.fill() == ImxUartModel::fifo);
    }
}

TEST_CASE("a stalled reader stops an i.MX UART's line, and no byte is lost", "[imx]") {
    Fixture f;
    f.start(24'000'000, 115'200);
    CHECK(f.fill() == ImxUartModel::fifo);
    CHECK(!f.line->put(0xee));
    for (unsigned round = 0; round < 50; ++round) {
        for (unsigned i = 0; i < round % 40; ++i) f.uart->send();
        f.fill();
    }
    for (unsigned i = 0; i < 64; ++i) f.uart->send();
    REQUIRE(f.uart->sent.size() == f.offered);
    for (unsigned i = 0; i < f.offered; ++i)
        REQUIRE(f.uart->sent[i] == static_cast<std::uint8_t>(i));
}

TEST_CASE("an i.MX UART gives each received byte once", "[imx]") {
    Fixture f;
    f.start(24'000'000, 115'200);
    CHECK(!f.line->get());
    f.uart->received = {0x00, 0x80, 0xff};
    for (const unsigned byte : {0x00u, 0x80u, 0xffu}) CHECK(f.line->get() == byte);
    CHECK(!f.line->get());
}
