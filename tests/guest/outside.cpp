// Everything but plain accesses to a device of the guest's: addresses without a device, the
// hypervisor's UART and memory, HVC and SMC, code and page tables in a traced page. Needs the
// hypervisor, with clcd traced.
#include "platform.hpp"

using namespace guest;

namespace {

constexpr u32 nowhere =
    0x3000'0000; // no node of the device tree names it, and QEMU has nothing there
constexpr u32 hyp_image = 0x8800'0000; // hyp/abi/layout.hpp
constexpr u32 trace_area = hyp_image + (16u << 20);

constexpr u32 external_abort = 0x08; // DFSR, IFSR: synchronous, on no table walk (ARM ARM B3.13.3)
constexpr u32 status_mask = 0x40f;

void require_fault(const Fault& fault, Kind kind, u32 count, const char* what) {
    if (fault.kind == kind && fault.count == count) return;
    print("  ", what, ": kind ", static_cast<u32>(fault.kind), ", count ", fault.count, "\n");
    failed("unexpected exceptions");
}

void require_external(const Fault& fault, Kind kind, u32 address, const char* what) {
    require_fault(fault, kind, 1, what);
    if ((fault.status & status_mask) == external_abort && fault.address == address) return;
    print("  ", what, ": status ", Hex{fault.status}, " address ", Hex{fault.address}, "\n");
    failed("a fault says something else than an external abort there");
}

template <typename T>
void require_empty(u32 address) {
    const Fault fault = faults_of([&] {
        require(read<T>(address) == 0, "what is not there reads as something");
        write<T>(address, static_cast<T>(0xa5a5'a5a5));
        require(read<T>(address) == 0, "what is not there keeps what is written");
    });
    require_fault(fault, Kind::none, 0, "an empty address");
}

void require_empty_everywhere(u32 address) {
    require_empty<u32>(address);
    require_empty<u16>(address + 2);
    require_empty<u8>(address + 5);
}

/// HSR does not describe it: the result is either that of an empty address, or an abort before any
/// change.
void require_consistent_writeback() {
    u32 value = 0x1234'5678;
    u32 pointer = nowhere;
    const Fault fault = faults_of([&] {
        asm volatile("ldr %0, [%1], #4" : "+r"(value), "+r"(pointer));
    });
    if (fault.count == 0)
        require(value == 0 && pointer == nowhere + 4, "half a load with writeback");
    else require(value == 0x1234'5678 && pointer == nowhere, "an aborted load changed registers");
}

void addresses() {
    require_empty_everywhere(nowhere);
    print("outside: where nothing is\n");

    require_empty_everywhere(hyp_uart + 0x18);
    for (const char* c = "the guest wrote this\n"; *c != '\0'; ++c)
        write<u32>(hyp_uart, static_cast<u8>(*c));
    print("outside: the hypervisor's UART\n");

    require_empty_everywhere(hyp_image);
    require_empty_everywhere(hyp_image + 0x10000);
    require_empty_everywhere(trace_area);
    for (u32 offset = 0; offset < 0x4000; offset += 64)
        asm volatile("str %0, [%1, %2]" ::"r"(0), "r"(hyp_image), "r"(offset)
                     : "memory"); // HSR describes it
    print("outside: the hypervisor's memory\n");
}

void calls() {
    Fault fault = faults_of([] { asm volatile("hvc #0\n\thvc #1" ::: "memory"); });
    require_fault(fault, Kind::undefined, 2, "HVC");
    fault = faults_of([] { asm volatile(".arch_extension sec\n\tsmc #0" ::: "memory"); });
    require_fault(fault, Kind::undefined, 1, "SMC");
    constexpr u32 psci_version = 0x8400'0000;
    fault = faults_of([] {
        register u32 r0 asm("r0") = psci_version;
        asm volatile("smc #0" : "+r"(r0)::"r1", "r2", "r3");
        require(r0 == psci_version, "an undefined SMC changed a register");
    });
    require_fault(fault, Kind::undefined, 1, "SMC PSCI_VERSION");
    print("outside: HVC, SMC\n");
}

void code() {
    map(palette, Memory::device_executable);
    constexpr u32 bx_lr = 0xe12f'ff1e;
    write(palette, bx_lr);
    const Fault fault = faults_of([] { reinterpret_cast<void (*)()>(palette)(); });
    require_external(fault, Kind::prefetch_abort, palette, "code in a device");
    map(palette, Memory::device);

    const Fault load = faults_of([] { asm volatile("ldr pc, [%0]" ::"r"(palette) : "memory"); });
    require_external(load, Kind::data_abort, palette, "ldr pc");
    const Fault several = faults_of([] {
        asm volatile("ldm %0, {r2, pc}" ::"r"(palette) : "r2", "memory");
    });
    require_external(several, Kind::data_abort, palette, "ldm {pc}");
    print("outside: code and jumps from a device\n");
}

/// The trap may lose a reservation. A store exclusive must have stored if and only if it says so.
void exclusives() {
    write(palette, 1u);
    u32 value = 0;
    u32 refused = 0;
    asm volatile("ldrex %0, [%2]\n\tstrex %1, %3, [%2]"
                 : "=&r"(value), "=&r"(refused)
                 : "r"(palette), "r"(2u)
                 : "memory");
    require(value == 1 && refused <= 1, "exclusives load and store something else");
    require(read(palette) == (refused != 0 ? 1u : 2u), "a store exclusive lies");
    print("outside: exclusives\n");
}

/// A second-level table whose entries 128 to 255 are the palette: the walk reads a device.
void page_tables() {
    extern u32 translation_table[] asm("translation_table");
    constexpr u32 walked = 0x4000'0000;
    constexpr u32 first_entry = 0x200 / 4;
    constexpr u32 coarse = 1;
    constexpr u32 small_page =
        0x002 | 0x030 | 0x040 | 0x00c | 0x400; // RW for all, write-back, shareable
    alignas(4096) static u32 page[1024];
    page[3] = 0x600d'600d;
    write(palette, reinterpret_cast<u32>(page) | small_page);
    translation_table[walked >> 20] = clcd | coarse;
    asm volatile("dsb\n\tmcr p15, 0, %0, c8, c7, 0\n\tdsb\n\tisb" ::"r"(0) : "memory");
    require(read(walked + first_entry * 4096 + 12) == 0x600d'600d,
            "a walk through a device ends elsewhere");
    print("outside: a page table in a device\n");
}

} // namespace

void guest_main() {
    addresses();
    calls();
    code();
    exclusives();
    page_tables();
    require_consistent_writeback();
    print("outside: writeback where nothing is\n");
    done();
}

void secondary_main() {}
