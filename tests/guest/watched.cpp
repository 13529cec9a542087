// Asks that memory be watched on which this guest itself depends, while both CPUs use it: page
// tables, vectors, stacks, code, data with exclusives. Each result must be as without a watch. Then
// what is not the guest's own.
#include "control.hpp"

using namespace guest;

extern "C" u32 translation_table[4096];

namespace {

constexpr u32 rounds = 600, page = 4096;
constexpr u32 hyp = ram + (128u << 20), trace_area = hyp + (16u << 20);

alignas(page) volatile u32 counter;
volatile u32 own[2];
volatile u32 stop, stopped;

void add_one() {
    u32 value, refused;
    do {
        asm volatile("ldrex %0, [%2]\n\tadd %0, %0, #1\n\tstrex %1, %0, [%2]"
                     : "=&r"(value), "=&r"(refused)
                     : "r"(&counter)
                     : "memory");
    } while (refused != 0);
}

// A frame for each call; its return loads PC from the stack.
[[gnu::noinline]] u32 sum(u32 n) {
    volatile u32 here[4] = {n, n + 1, n + 2, n + 3};
    return n == 0 ? 0 : here[0] + here[3] + sum(n - 1);
}

void forget_translations() {
    asm volatile("dsb\n\tmcr p15, 0, %0, c8, c7, 0\n\tdsb\n\tisb" ::"r"(0) : "memory"); // TLBIALL
}

/// Uses stack, vectors (SVC), page tables and data.
[[gnu::noinline]] u32 work(u32 cpu) {
    forget_translations();
    add_one();
    own[cpu] = own[cpu] + 1;
    asm volatile("cps #0x10\n\tsvc #0" ::: "lr", "memory"); // returns to here (start.S)
    return sum(12) + read(spare_ram) + read(ram + 4);
}

u32 vectors() {
    u32 base;
    asm volatile("mrc p15, 0, %0, c12, c0, 0" : "=r"(base));
    return base;
}

u32 page_of(const volatile void* address) {
    return reinterpret_cast<u32>(address) & ~(page - 1);
}

} // namespace

void guest_main() {
    volatile u32 on_stack = 0;
    const u32 wanted = work(0);
    u32 works = 1;
    start_cpu(1);
    while (own[1] == 0) {
    }
    const u32 stack = page_of(&on_stack);
    const u32 targets[][2] = {
        {page_of(translation_table), sizeof translation_table},
        {page_of(&counter), page},
        {stack - 4 * page, 6 * page}, // that of CPU 1 lies there, too
        {vectors() & ~(page - 1), page},
        {page_of(reinterpret_cast<const void*>(&work)), page},
        {page_of(&own), page},
    };
    for (u32 n = 0; n < rounds; ++n) {
        const auto& [begin, bytes] = targets[n % 6];
        order(Command::watch, begin, bytes);
        for (u32 again = 0; again < 4; ++again, ++works)
            require(work(0) == wanted, "another result, while memory is watched");
        const Fault fault = faults_of([] { asm volatile("udf #0"); });
        require(fault.kind == Kind::undefined && fault.count == 1, "another exception");
        if (n % 12 >= 6) order(Command::unwatch);
    }
    stop = 1;
    while (stopped == 0) {
    }
    print("watched: ", works, " works, ", own[0], " and ", own[1], " of ", counter, "\n");
    require(own[0] == works && counter == works + own[1], "exclusives have lost a count");
    order(Command::unwatch);
    constexpr u32 others[] = {hyp, trace_area, control_page, palette, 0xffff'f000};
    for (const u32 begin : others)
        require(ask(Command::watch, begin, page).status == Status::not_watchable, "not refused");
    done();
}

void secondary_main() {
    const u32 wanted = work(1);
    while (stop == 0) require(work(1) == wanted, "another result on CPU 1");
    stopped = 1;
    for (;;) asm volatile("wfi");
}
