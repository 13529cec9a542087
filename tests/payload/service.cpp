// In place of hyp/services/services.cpp: all services, and one more, which gives the guest's stores
// to the palette a payload.
#include "pattern.hpp"

#include "machine/machine.hpp"
#include "port/sysreg.hpp"
#include "services/services.hpp"

#include <algorithm>

namespace mmioscope {

namespace {

class PayloadService final : public Service, public DeviceOps {
public:
    constexpr PayloadService() : DeviceOps(true) {}

    BootError configure(Machine& machine, Setup&) override {
        machine.devices = this;
        return {};
    }
    /// The fast path writes no payload.
    BootError start(Machine& machine, const Setup&) override {
        const Span* const span = machine.map.find({payload_test::palette});
        if (span == nullptr) return {"this board has no palette", ""};
        span->owner->lock.allow_fast_path(false);
        return {};
    }
    /// Any task, at any time: the fast path takes what the lock lets it.
    void prepare_fast_path(Cpu& cpu) override {
        cpu.fast.task = port::read<reg::TPIDRURO>();
        cpu.fast.next_lookup = ~std::uint64_t{0};
    }
    bool before(Cpu& cpu, Frame&) override {
        if (cpu.trapped.access.recorded) {
            cpu.trapped.payload = payload_of(cpu.number, cpu.trapped.access);
            if (!has_room_for(cpu, 2 * cpu.trapped.payload.records())) return false;
        }
        return true;
    }

private:
    Payload payload_of(unsigned cpu, const DeviceAccess& access) {
        using namespace payload_test;
        if (!access.write || !access.decoded || access.listed ||
            access.pa.value - palette >= palette_size)
            return {};
        const std::uint32_t size = size_of(access.value);
        for (std::uint32_t n = 0; n < size; ++n) bytes_[cpu][n] = byte_of(access.value, n);
        return {bytes_[cpu], size};
    }

    std::uint8_t bytes_[abi::max_cpus][abi::payload_limit]{};
};

constinit Services services;
constinit PayloadService payload;

constexpr auto list = [] {
    constexpr auto usual = list_of(services);
    std::array<Service*, usual.size() + 1> all{};
    std::copy(usual.begin(), usual.end(), all.begin());
    all.back() = &payload;
    return all;
}();

} // namespace

std::span<Service* const> linked_services() {
    return list;
}

} // namespace mmioscope
