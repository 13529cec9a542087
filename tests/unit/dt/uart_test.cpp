#include "dt/uart.hpp"

#include "catch_2_or_3.hpp"
#include "sim/board_tree.hpp"

#include <libfdt.h>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr const char* fifo = "/bus@8000000/motherboard/iofpga@3,00000000/fifo@130000";

/// The board's tree with its FIFO changed into something else.
class Changed {
public:
    explicit Changed(const char* compatible) : blob_(with_room(make_board_tree({}))) {
        REQUIRE(fdt_setprop_string(blob_.data(), node(), "compatible", compatible) == 0);
    }
    Changed& cell(const char* name, std::uint32_t value) {
        REQUIRE(fdt_setprop_u32(blob_.data(), node(), name, value) == 0);
        return *this;
    }
    Changed& size(std::uint32_t bytes) {
        const fdt32_t reg[] = {cpu_to_fdt32(0x13'0000), cpu_to_fdt32(bytes)};
        REQUIRE(fdt_setprop(blob_.data(), node(), "reg", reg, sizeof reg) == 0);
        return *this;
    }
    std::optional<Uart> uart() const {
        const Tree tree = tree_of(blob_);
        return uart_of(tree, tree.find(fifo));
    }

private:
    int node() const { return fdt_path_offset(blob_.data(), fifo); }
    Blob blob_;
};

} // namespace

TEST_CASE("the compatible of its node gives a UART's model") {
    const auto pl011 = Changed("arm,pl011").uart();
    REQUIRE(pl011);
    CHECK(pl011->model == UartModel::pl011);
    CHECK(pl011->base.value == at::fifo);

    const auto h3 = Changed("snps,dw-apb-uart").cell("reg-shift", 2).cell("reg-io-width", 4).uart();
    REQUIRE(h3);
    CHECK(h3->model == UartModel::uart8250);
    CHECK(h3->base.value == at::fifo);
    CHECK(h3->reg_shift == 2);
    CHECK(h3->log2_width == 2);

    const auto plain = Changed("ns16550a").uart();
    REQUIRE(plain);
    CHECK(plain->reg_shift == 0);
    CHECK(plain->log2_width == 0);
    CHECK(Changed("ns16550a").cell("reg-io-width", 2).uart()->log2_width == 1);
}

TEST_CASE("a node that cannot be used as a UART is refused") {
    CHECK(!Changed("test,fifo").uart());
    CHECK(!Changed("ns16550a").cell("reg-io-width", 3).uart());
    CHECK(!Changed("ns16550a").cell("reg-io-width", 8).uart());
    CHECK(!Changed("ns16550a").cell("reg-shift", 5).uart());
    CHECK(!Changed("ns16550a").cell("reg-shift", 0xffff'ffff).uart());
    CHECK(!Changed("ns16550a").cell("reg-shift", 2).size(0x1f).uart());
    CHECK(Changed("ns16550a").cell("reg-shift", 2).size(0x20).uart());
}
