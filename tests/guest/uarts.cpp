// Four UARTs in one page: the console, another one of the guest's, and two of the hypervisor's,
// which answer like addresses without a device.
#include "platform.hpp"

#include <initializer_list>

using namespace guest;

namespace {

constexpr u32 scratch = 0x1c;      // SCR keeps what is written
constexpr u32 line_control = 0x0c; // LCR
constexpr u32 rounds = 100;

/// Each access aborts, as for addresses in no node.
void require_nothing_at(u32 uart) {
    for (const u32 offset : {u32{0}, line_control, scratch, u32{0x3fc}}) {
        const Fault load = faults_of([&] { (void)read(uart + offset); });
        const Fault store = faults_of([&] { write<u32>(uart + offset, 0x41); });
        const Fault byte = faults_of([&] { (void)read<u8>(uart + offset); });
        require(load.count == 1 && store.count == 1 && byte.count == 1, "no abort");
        require(load.kind == Kind::data_abort && load.address == uart + offset, "another abort");
        const Fault nowhere = faults_of([] { (void)read(aborting); });
        require(nowhere.count == 1 && nowhere.status == load.status, "not as where nothing is");
    }
}

/// Two words, the second one the hypervisor's: neither may be touched.
void require_whole_or_not() {
    const u32 end = hyp_uart - 4;
    const Fault fault = faults_of([&] {
        asm volatile("ldmia %0, {r2, r3}" ::"r"(end) : "r2", "r3", "memory");
    });
    require(fault.count == 1, "a load that reaches the hypervisor's UART does not abort");
}

} // namespace

void guest_main() {
    const Fault nowhere = faults_of([] { (void)read(aborting); });
    print("uarts: nowhere: ", nowhere.count, " abort, status ", Hex{nowhere.status}, "\n");
    for (u32 round = 0; round < rounds; ++round) {
        write(other_uart + scratch, round & 0xff);
        require(read(other_uart + scratch) == (round & 0xff), "the guest's own UART forgets");
        write(console + scratch, ~round & 0xff);
        require(read(console + scratch) == (~round & 0xff), "the console forgets");
        require_nothing_at(hyp_uart);
        require_nothing_at(stream_uart);
    }
    require_whole_or_not();
    print("uarts: ", rounds, " rounds\n");
    done();
}

void secondary_main() {}
