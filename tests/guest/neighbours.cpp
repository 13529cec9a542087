// Both CPUs use one device page of which only a range of bytes is traced (`--trace 0x1c1f0210+8`).
// Prints how many accesses must have records and how many not; all values must be right.
#include "platform.hpp"

#include <atomic>

using namespace guest;

namespace {

constexpr u32 traced_begin = palette + 0x10;
constexpr u32 traced_end = traced_begin + 8;
constexpr u32 rounds = 500;

std::atomic<u32> selected{0};
std::atomic<u32> unselected{0};
std::atomic<u32> finished{0};
std::atomic<u32> wrong{0};

void count(u32 address) {
    (address >= traced_begin && address < traced_end ? selected : unselected).fetch_add(1);
}

template <typename T>
void check(u32 address, T value) {
    write<T>(address, value);
    count(address);
    const T now = read<T>(address);
    count(address);
    if (now != value) wrong.fetch_add(1);
}

/// Every fourth access on each side of the boundaries is a byte or a halfword: the range is
/// byte-exact.
void use(u32 cpu) {
    for (u32 n = 0; n < rounds; ++n) {
        for (u32 word = cpu; word < 12; word += 2)
            check<u32>(palette + 4 * word, n << 8 | word << 1 | cpu);
        const u32 own_end =
            cpu == 0 ? traced_begin : traced_end - 4; // CPU 0: word 4, CPU 1: word 5
        check<u8>(own_end + (cpu == 0 ? 0 : 3), static_cast<u8>(n));
        check<u16>(cpu == 0 ? traced_end : traced_begin - 4, static_cast<u16>(n)); // words 6 and 3
        check<u8>(cpu == 0 ? traced_end : traced_begin - 1, static_cast<u8>(n));
    }
    finished.fetch_add(1);
}

} // namespace

void guest_main() {
    start_cpu(1);
    unselected += 2; // SYS_FLAGS twice: a register that can start a CPU always traps
    use(0);
    while (finished.load() < 2) {
    }
    unselected += 2; // power-off
    require(wrong.load() == 0, "a word holds what nobody wrote");
    print("neighbours: ", selected.load(), " selected, ", unselected.load(), " unselected\n");
    done();
}

void secondary_main() {
    use(1);
}
