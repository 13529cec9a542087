// What a guest can reach: all 40 bits of physical address, by loads, stores, instruction fetches
// and page-table walks, from PL1 and PL0. Needs the hypervisor. Prints the number of tries of each
// kind, which the trace must confirm.
#include "platform.hpp"

#include <initializer_list>

using namespace guest;

namespace {

using u64 = std::uint64_t;

constexpr u64 gib = 1u << 30;
constexpr u64 mib = 1u << 20;
constexpr u64 page = 4096;

constexpr u64 ram_end = ram + 512 * mib;
constexpr u64 hyp = ram + 128 * mib; // hyp/abi/layout.hpp, with a trace area of 64 MiB
constexpr u64 hyp_end = hyp + 16 * mib + 64 * mib;

bool is_hyp(u64 address) {
    return address >= hyp && address < hyp_end && (address & ~0xfffull) != control_page;
}

// Long-descriptor tables (ARM ARM B3.6): the four GiB are devices, RAM and a window, in the board's
// order, and a table to walk.

constexpr unsigned gib_of_ram = ram / gib;
constexpr unsigned gib_of_window = 3 - gib_of_ram;
constexpr u64 window = gib_of_window * gib;
constexpr u64 walked = 3 * gib;
alignas(4096) u64 root[4];

constexpr u64 block = 1;
constexpr u64 table = 3;
constexpr u64 common = 1u << 10 | 3u << 8 | 1u << 6; // access flag, shareable, PL0 too
constexpr u64 normal = common | 1u << 2;             // MAIR index 1
constexpr u64 device = common;                       // MAIR index 0
constexpr u64 execute_never = u64{1} << 54;

void invalidate_tlb() {
    asm volatile("dsb\n\tmcr p15, 0, %0, c8, c7, 0\n\tdsb\n\tisb" ::"r"(0) : "memory"); // TLBIALL
}

void set_entry(unsigned n, u64 descriptor) {
    volatile u64& entry = root[n];
    if (entry == descriptor) return;
    entry = descriptor;
    invalidate_tlb();
}

void set_mmu(bool on) {
    u32 sctlr;
    asm volatile("mrc p15, 0, %0, c1, c0, 0" : "=r"(sctlr));
    sctlr = on ? sctlr | 1 : sctlr & ~u32{1};
    asm volatile("dsb\n\tmcr p15, 0, %0, c1, c0, 0\n\tisb" ::"r"(sctlr) : "memory");
}

void use_long_descriptors() {
    root[0] = 0 | device | execute_never | block;
    root[gib_of_ram] = gib_of_ram * gib | normal | block;
    constexpr u32 extended_address_enable = 1u << 31;
    constexpr u32 device_and_write_back = 0xff04;
    set_mmu(false);
    asm volatile("mcr p15, 0, %0, c2, c0, 2" ::"r"(extended_address_enable)); // TTBCR
    asm volatile("mcr p15, 0, %0, c10, c2, 0" ::"r"(device_and_write_back));  // MAIR0
    asm volatile("mcrr p15, 0, %0, %1, c2" ::"r"(root), "r"(0));              // TTBR0
    invalidate_tlb();
    set_mmu(true);
}

/// The address at which the window shows `address`.
u32 show(u64 address, u64 attributes = device | execute_never) {
    set_entry(gib_of_window, (address & ~(gib - 1)) | attributes | block);
    return static_cast<u32>(window + (address & (gib - 1)));
}

// One try each. An empty address must behave as on the board's bus: abort, or read as 0 and ignore
// writes.

constexpr bool bus_aborts = aborting != 0;
constexpr u32 external_abort = 0x10; // long descriptors: DFSR, IFSR (B3.13.3)
constexpr u32 status_mask = 0x3f;

void require_external(const Fault& fault, Kind kind, const char* what) {
    if (fault.count == 1 && fault.kind == kind && (fault.status & status_mask) == external_abort)
        return;
    print("reach: ", what, ": count ", fault.count, " status ", Hex{fault.status}, "\n");
    failed("not an external abort");
}

u32 tries_hyp = 0;   ///< loads and stores of the hypervisor's memory
u32 tries_above = 0; ///< above 4 GiB
u32 fetches = 0;
u32 walks = 0;
u32 walks_hyp = 0; ///< of tables in the hypervisor's memory

void count(u64 address) {
    if (is_hyp(address)) ++tries_hyp;
    if (address >> 32 != 0) ++tries_above;
}

void require_no_load(u64 address) {
    count(address);
    const u32 at = show(address);
    u32 value = 0;
    const Fault fault = faults_of([&] { value = read(at); });
    if (bus_aborts) return require_external(fault, Kind::data_abort, "a load");
    require(fault.count == 0, "a load aborts");
    if (value == 0) return;
    print("reach: ", Hex{static_cast<u32>(address >> 32)}, " ", Hex{static_cast<u32>(address)},
          "\n");
    failed("what is not the guest's can be read");
}

void store(u64 address) {
    count(address);
    const u32 at = show(address);
    const Fault fault = faults_of([&] { write(at, 0xa5a5'a5a5u); });
    if (bus_aborts) require_external(fault, Kind::data_abort, "a store");
    else require(fault.count == 0, "a store aborts");
}

void require_nothing(u64 address) {
    require_no_load(address);
    store(address);
    require_no_load(address);
}

void require_no_fetch(u64 address) {
    const u32 at = show(address, normal);
    ++fetches;
    require_external(faults_of([&] { reinterpret_cast<void (*)()>(at)(); }), Kind::prefetch_abort,
                     "a fetch");
}

/// `address` is that of a table for the CPU to walk. (QEMU 7.2 cuts it to 32 bits.)
void require_no_walk(u64 address) {
    set_entry(3, (address & ~(page - 1)) | table);
    ++walks;
    if (is_hyp(address)) ++walks_hyp;
    require_external(faults_of([] { read(static_cast<u32>(walked)); }), Kind::data_abort, "a walk");
    set_entry(3, 0);
}

// The sweeps.

/// Checks that there is nothing between the devices; devices may answer anything, and are not
/// written to.
void below_ram() {
    for (u64 address = 0; address < ram; address += mib) {
        const u32 at = show(address);
        const Fault fault = faults_of([&] { read(at); });
        if (fault.count != 0) require_external(fault, Kind::data_abort, "below RAM");
    }
}

void own_ram() {
    for (u64 address = ram; address < ram_end; address += mib)
        if (is_hyp(address)) require_nothing(address);
        else read(show(address, normal | execute_never));
    for (u64 address = ram_end; address < 4 * gib; address += mib) require_nothing(address);
}

void hypervisor() {
    for (u64 address = hyp; address < hyp + 2 * mib; address += page) {
        require_nothing(address + (address / 64) % page / 4 * 4);
        require_nothing(address + page - 4);
    }
    for (u64 offset = 0; offset < 256; offset += 4) {
        require_nothing(hyp + offset);
        require_nothing(hyp_end - 4 - offset);
    }
    read(show(hyp - 4, normal | execute_never));
    read(show(hyp_end, normal | execute_never));
}

constexpr u64 targets[] = {
    hyp, hyp + 0x2'8000, hyp + 14 * mib, hyp + 15 * mib + page, hyp + 16 * mib, hyp_end - page};

/// The hypervisor, devices and RAM again, with higher address bits set.
void above_4_gib() {
    const u32 kept = read(palette);
    static volatile u32 mine = 0x1357'9bdf;
    for (u64 n = 1; n < 256; ++n) {
        const u64 high = n << 32;
        require_nothing(high + targets[n % 6] + 0x40);
        require_nothing(high + palette);
        require_nothing(high + console);
        require_nothing(high + reinterpret_cast<u32>(&mine));
    }
    require(read(palette) == kept && mine == 0x1357'9bdf, "an address above 4 GiB is another one");
    for (u64 address = 4 * gib; address < 1024 * gib; address += 256 * mib)
        require_no_load(address);
}

void fetches_and_walks() {
    for (const u64 high : {u64{0}, u64{1} << 32, u64{0xff} << 32})
        for (const u64 target : targets) {
            require_no_fetch(high + target);
            require_no_walk(high + target);
        }
    require_no_fetch(0x3000'0000);
    require_no_walk(0x3000'0000);
    require_no_fetch((u64{1} << 32) + (reinterpret_cast<u32>(&fetches_and_walks) & ~31u));
}

// Instructions other than loads and stores of a word.

/// Runs `instructions` of them with the hypervisor's memory at `at`: each must be refused as a
/// whole, or find nothing.
template <typename Action>
void refused(const char* what, u32 instructions, Action action) {
    for (const u64 target : targets) {
        u32 found = 0;
        const u32 at = show(target, normal | execute_never);
        const Fault fault = faults_of([&] { action(at, found); });
        tries_hyp += instructions;
        if (found != 0 || fault.count > instructions) {
            print("reach: ", what, "\n");
            failed("an instruction reaches the hypervisor");
        }
    }
}

void forms() {
    refused("ldm", 1, [](u32 at, u32& found) {
        asm volatile("mov r2, #0\n\tmov r3, #0\n\tldm %1, {r2, r3}\n\torr %0, r2, r3"
                     : "=r"(found)
                     : "r"(at)
                     : "r2", "r3", "memory");
    });
    refused("stm", 1, [](u32 at, u32&) { asm volatile("stm %0, {r0-r9}" ::"r"(at) : "memory"); });
    refused("ldrd", 1, [](u32 at, u32& found) {
        asm volatile("mov r2, #0\n\tmov r3, #0\n\tldrd r2, r3, [%1]\n\torr %0, r2, r3"
                     : "=r"(found)
                     : "r"(at)
                     : "r2", "r3", "memory");
    });
    refused("ldrex, strex", 1, [](u32 at, u32& found) {
        asm volatile("mov r2, #0\n\tldrex r2, [%1]\n\tstrex r3, %1, [%1]\n\tmov %0, r2"
                     : "=r"(found)
                     : "r"(at)
                     : "r2", "r3", "memory");
    });
    refused("post-indexed", 2, [](u32 at, u32& found) {
        asm volatile("mov r2, #0\n\tldr r2, [%1], #4\n\tstr r2, [%1], #4\n\tmov %0, r2"
                     : "=&r"(found), "+r"(at)
                     :
                     : "r2", "memory");
    });
    refused("vldm, vstm", 2, [](u32 at, u32& found) {
        asm volatile(".fpu neon-vfpv4\n\tvmov.i32 d0, #0\n\tvldm %1, {d0}\n\tvstm %1, {d1}\n\t"
                     "vmov %0, s0"
                     : "=r"(found)
                     : "r"(at)
                     : "memory");
    });
    refused("ldr pc", 1, [](u32 at, u32&) { asm volatile("ldr pc, [%0]" ::"r"(at) : "memory"); });
}

/// Cache maintenance by address and by set and way must neither lose nor show anything of the
/// hypervisor's.
void caches() {
    for (const u64 target : targets) {
        const u32 at = show(target, normal | execute_never);
        faults_of([&] {
            asm volatile("mcr p15, 0, %0, c7, c6, 1" ::"r"(at) : "memory");  // DCIMVAC
            asm volatile("mcr p15, 0, %0, c7, c10, 1" ::"r"(at) : "memory"); // DCCMVAC
            asm volatile("mcr p15, 0, %0, c7, c14, 1" ::"r"(at) : "memory"); // DCCIMVAC
            asm volatile("mcr p15, 0, %0, c7, c5, 1" ::"r"(at) : "memory");  // ICIMVAU
            asm volatile("mcr p15, 0, %0, c7, c8, 0" ::"r"(at) : "memory");  // ATS1CPR
        });
    }
    for (u32 way = 0; way < 4; ++way)
        for (u32 set = 0; set < 256; ++set)
            asm volatile("mcr p15, 0, %0, c7, c6, 2" ::"r"(way << 30 | set << 6)
                         : "memory"); // DCISW
}

extern "C" void run_form(const void* code, void* registers, u32 user);
extern "C" const u32 load_and_store[];
asm(".text\nload_and_store: ldr r0, [r1]\n\tstr r2, [r1]\n\tldr r3, [r1]\n\tbx lr\n");

void from_user_mode() {
    for (const u64 target : targets)
        for (const u64 high : {u64{0}, u64{1} << 32}) {
            struct {
                u32 r[10]{};
                u32 cpsr{};
            } registers;
            registers.r[1] = show(high + target, device | execute_never);
            registers.r[2] = 0xa5a5'a5a5;
            for (unsigned n = 0; n < 3; ++n) count(high + target);
            const Fault fault = faults_of([&] { run_form(load_and_store, &registers, 1); });
            require(fault.count == (bus_aborts ? 3 : 0), "User mode's accesses end otherwise");
            require(registers.r[0] == 0 && registers.r[3] == 0, "User mode reads what PL1 cannot");
        }
}

} // namespace

void guest_main() {
    use_long_descriptors();
    below_ram();
    own_ram();
    hypervisor();
    above_4_gib();
    from_user_mode();
    fetches_and_walks();
    forms();
    caches();
    print("reach: ", tries_hyp, " to the hypervisor's memory, ", tries_above, " above 4 GiB, ",
          fetches, " fetches, ", walks, " walks, ", walks_hyp, " of them there\n");
    done();
}

void secondary_main() {}
