// An 8250 as a line: every byte that it accepts arrives, in order, whatever the reader does, and
// nobody waits for it.
#include "catch_2_or_3.hpp"
#include "sim/uart8250.hpp"
#include "unit/dev/line_fixture.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint64_t base = 0x01c2'8800;

/// A line with a model of its UART.
class Fixture : public LineFixture<Uart8250Model> {
public:
    Fixture(unsigned fifo, std::uint8_t reg_shift, std::uint8_t log2_width)
        : LineFixture({UartModel::uart8250, {base}, reg_shift, log2_width}, 8u << reg_shift,
                      std::make_unique<Uart8250Model>(fifo, reg_shift, log2_width)) {}
};

} // namespace

TEST_CASE("an 8250 is set up with the width and spacing of its registers", "[uart8250]") {
    struct Layout {
        std::uint8_t reg_shift, log2_width;
    };
    for (const Layout layout : {Layout{2, 2}, Layout{0, 0}, Layout{1, 1}, Layout{2, 0}}) {
        Fixture f(16, layout.reg_shift, layout.log2_width);
        f.start(24'000'000, 115'200);
        CHECK(f.uart->divisor == 13);
        CHECK(f.uart->registers[1] == 0); // no interrupts
        CHECK(f.uart->registers[3] == 3); // 8 bits, and the divisor latch closed
        CHECK(f.uart->sent.empty());
        CHECK(f.fill() == 16);
    }
    Fixture f(16, 2, 2);
    f.start(24'000'000, 10'000'000); // faster than possible
    CHECK(f.uart->divisor == 1);
    f.start(24'000'000, 300);
    CHECK(f.uart->divisor == 5000);
    f.start(1'000'000'000, 300); // slower than possible
    CHECK(f.uart->divisor == 0xffff);
}

TEST_CASE("a stalled reader stops the line, and no byte is lost", "[uart8250]") {
    for (const unsigned fifo : {0u, 16u, 64u}) {
        CAPTURE(fifo);
        Fixture f(fifo, 2, 2);
        f.start(24'000'000, 115'200);
        CHECK(f.fill() == (fifo == 0 ? 1u : 16u));
        const unsigned before = f.uart->status_reads;
        for (unsigned i = 0; i < 100; ++i) CHECK(!f.line->put(0xee));
        CHECK(f.uart->status_reads - before == 100); // one read of the status each
        for (unsigned round = 0; round < 50; ++round) {
            for (unsigned i = 0; i < round % 20; ++i) f.uart->send();
            f.fill();
        }
        for (unsigned i = 0; i < 64; ++i) f.uart->send();
        CHECK(f.uart->overruns == 0);
        REQUIRE(f.uart->sent.size() == f.offered);
        for (unsigned i = 0; i < f.offered; ++i)
            REQUIRE(f.uart->sent[i] == static_cast<std::uint8_t>(i));
    }
}
