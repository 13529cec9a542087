// Makes a million random writes to the control page, from PL1 and PL0, of words and less. Nothing
// else may change or stop, and the page must still answer.
#include "control.hpp"

using namespace guest;

namespace {

constexpr u32 writes = 1'000'000;

u32 random() {
    static u32 state = 2463534242;
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

/// In User mode; SVC returns to the caller (start.S).
void write_by_user(u32 address, u32 value) {
    asm volatile("cps #0x10\n\tstr %0, [%1]\n\tsvc #0" ::"r"(value), "r"(address) : "lr", "memory");
}
u32 read_by_user(u32 address) {
    u32 value;
    asm volatile("cps #0x10\n\tldr %0, [%1]\n\tsvc #0" : "=&r"(value) : "r"(address) : "lr");
    return value;
}

void write_noise(u32 n) {
    const u32 value = random();
    const u32 address = control_page + (random() & 0xfff);
    if (n % 64 == 0) write<u8>(address, static_cast<u8>(value));
    else if (n % 64 == 1) write<u16>(address & ~1u, static_cast<std::uint16_t>(value));
    else if (n % 2 == 0) write_by_user(address & ~3u, value);
    else write(address & ~3u, value);
}

/// Whether the palette's page traps.
bool traced() {
    const u32 before = traps(0);
    const u32 none = traps(0) - before;
    const u32 again = traps(0);
    read(palette);
    return traps(0) - again != none;
}

} // namespace

void guest_main() {
    const control::Reply before = ask(Command::describe);
    require(traced(), "not everything is traced");
    for (u32 n = 0; n < writes; ++n) write_noise(n);
    const control::Reply after = ask(Command::describe);
    require(after.value[0] == before.value[0] && after.value[1] == before.value[1],
            "noise has changed something");
    require(traced(), "noise has switched a device off");
    require(read_by_user(control_page) == control::page_magic, "User mode does not see the page");
    order(Command::marker, 0xfeed'0001);
    print("control_noise: ", writes, " writes\n");
    done();
}

void secondary_main() {}
