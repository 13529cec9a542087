// Hyp's own UART: what is recorded of it, and how long a dead one is waited for.
#include "dev/console.hpp"

#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// A PL011 whose FIFO is full for `busy` reads of its status before each character; never: it is
/// dead.
class SlowUart : public Device {
public:
    explicit SlowUart(unsigned busy) : busy_(busy), left_(busy) {}
    std::uint64_t read(std::uint64_t offset, unsigned) override {
        constexpr std::uint64_t flags = 0x18, full = 1u << 5;
        if (offset != flags) return 0;
        ++reads;
        return left_ == never || left_-- != 0 ? full : 0;
    }
    void write(std::uint64_t offset, unsigned, std::uint64_t value) override {
        if (offset != 0) return;
        text += static_cast<char>(value);
        left_ = busy_;
    }
    static constexpr unsigned never = ~0u;
    std::string text;
    std::uint64_t reads{};

private:
    unsigned busy_;
    unsigned left_;
};

} // namespace

TEST_CASE("a character on a slow UART makes a record of its status and one of the character") {
    const unsigned busy = GENERATE(0u, 1u, 50u);
    RigOptions options;
    options.conditions.step_limit = 100'000'000;
    Rig rig(options);
    auto device = std::make_unique<SlowUart>(busy);
    SlowUart& uart = *device;
    rig.simulation.bus.attach({at::own_uart, at::own_uart + 0x1000}, std::move(device));
    rig.program(0).end();
    rig.run();
    CHECK(rig.failure() == "");
    REQUIRE(uart.text.find("mmioscope: arm,vexpress") == 0);
    CHECK(uart.reads >= (busy + 1) * uart.text.size());
    std::string recorded;
    std::size_t reads = 0;
    for (const abi::Record& r : rig.records_of(abi::RecordType::own)) {
        const std::uint64_t offset = abi::physical_address(r) - at::own_uart;
        if (offset == 0 && abi::is_write(r)) recorded += static_cast<char>(r.value);
        if (offset == 0x18) {
            ++reads;
            CHECK(r.value == 0); // the one that found room
        }
    }
    CHECK(recorded == uart.text);
    CHECK(reads == uart.text.size());
}

TEST_CASE("a dead UART is waited for once, for whatever is printed") {
    Simulation simulation{Conditions{}};
    auto device = std::make_unique<SlowUart>(SlowUart::never);
    SlowUart& uart = *device;
    simulation.bus.attach({at::own_uart, at::own_uart + 0x1000}, std::move(device));
    OwnBus bus;
    Console console({UartModel::pl011, {at::own_uart}}, bus);
    const std::string text(1500, 'x');
    print(console, text.c_str());
    CHECK(uart.text.empty());
    CHECK(uart.reads == 100'000 + 1499);
}
