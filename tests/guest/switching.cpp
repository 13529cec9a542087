// Two CPUs write and read one page while tracing of it is switched on and off. Writes to a register
// without effect, which QEMU logs, too, mark the progress of a change (tests/qemu/switching.py
// checks).
#include "control.hpp"

#include <atomic>

using namespace guest;

namespace {

constexpr u32 changes = 2000;
constexpr u32 mark = 0x1c11'0018; // TimerBGLoad of a timer that is off (DDI 0271 3.3.7)
enum Phase : u32 { starting, on, stopping, off };

std::atomic<u32> stop{0};
std::atomic<u32> finished{0};
std::atomic<u32> wrong{0};

void tell(u32 change, Phase phase) {
    write(mark, change << 2 | phase);
}

/// Writes a unique value, and reads it back.
void use(u32 cpu, u32 n) {
    const u32 own = palette + 4 * cpu;
    const u32 value = (cpu + 1) << 28 | n;
    write(own, value);
    if (read(own) != value) wrong.fetch_add(1);
}

/// Number of traps for `count` uses of the page.
u32 traps_of_uses(u32 first, u32 count) {
    const u32 before = traps(0);
    for (u32 n = 0; n < count; ++n) use(0, first + n);
    return traps(0) - before;
}

void compare_costs() {
    constexpr u32 uses = 1000;
    tell(changes, off);
    const u32 none = traps_of_uses(0, 0);
    const u32 untraced = traps_of_uses(0xfe0'0000, uses);
    tell(changes, starting);
    order(Command::select_range, clcd, 0x1000);
    tell(changes, on);
    const u32 traced = traps_of_uses(0xff0'0000, uses);
    print("switching: 2000 accesses make ", untraced - none, " traps untraced, ", traced - none,
          " traced\n");
    require(untraced == none, "an untraced device traps");
    require(traced - none >= 2 * uses, "a traced device does not trap");
}

} // namespace

void guest_main() {
    start_cpu(1);
    u32 n = 0;
    for (u32 change = 0; change < changes; ++change) {
        tell(change, starting);
        order(Command::select_range, clcd, 0x1000);
        tell(change, on);
        for (u32 i = 0; i < change % 8; ++i) use(0, n++);
        tell(change, stopping);
        order(Command::deselect_range, clcd, 0x1000);
        tell(change, off);
        for (u32 i = 0; i < change % 5; ++i) use(0, n++);
    }
    stop = 1;
    while (finished.load() == 0) {
    }
    require(wrong.load() == 0, "a word holds what nobody wrote");
    compare_costs();
    print("switching: ", changes, " changes\n");
    done();
}

void secondary_main() {
    for (u32 n = 0; stop.load() == 0; ++n) use(1, n);
    finished = 1;
}
