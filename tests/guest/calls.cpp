// Calls the firmware by HVC from one CPU, with valid and invalid arguments, and prints each answer;
// nothing else may change. Leaves out calls that would end the machine or this CPU, or start
// another one.
#include "platform.hpp"
#include "psci.hpp"

#include <initializer_list>

using namespace guest;

namespace {

struct Call {
    u32 r[4];
};

u32 state = 0x2545'f491;
u32 random() { // xorshift
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

Call hvc(Call c) {
    register u32 r0 asm("r0") = c.r[0];
    register u32 r1 asm("r1") = c.r[1];
    register u32 r2 asm("r2") = c.r[2];
    register u32 r3 asm("r3") = c.r[3];
    asm volatile(".arch_extension virt\n\thvc #0"
                 : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3)::"memory");
    return {{r0, r1, r2, r3}};
}

using psci::convention_64;
using psci::first_function;
using psci::functions;

bool is_final(const Call& c) {
    return psci::is_final(c.r[0], c.r[1]);
}

void print_call(const Call& c) {
    const Call after = hvc(c);
    print("call ", Hex{c.r[0]}, " ", Hex{c.r[1]}, " ", Hex{c.r[2]}, ": ", Hex{after.r[0]}, "\n");
    for (u32 i = 1; i < 4; ++i) require(after.r[i] == c.r[i], "a call changed a register");
}

void each_function() {
    constexpr u32 arguments[][2] = {{0, 0},           {1, 0},           {2, 0},
                                    {0, 1},           {0x100, 0},       {0x8000'0000, 0},
                                    {0xffff'ffff, 0}, {0, 0xffff'ffff}, {0x8400'0003, 0},
                                    {0x8400'0009, 0}, {0xc400'0003, 0}};
    for (const u32 convention : {u32{0}, convention_64})
        for (u32 function = 0; function < functions; ++function)
            for (const auto& a : arguments) {
                const Call c{{first_function | convention | function, a[0], a[1], 0}};
                if (!is_final(c)) print_call(c);
            }
}

void random_calls(u32 count) {
    u32 digest = 0x811c'9dc5;
    for (u32 n = 0; n < count; ++n) {
        Call c{{random(), random(), random(), random()}};
        if (n % 2 == 0) c.r[0] = first_function | (c.r[0] & (convention_64 | (functions - 1)));
        if (n % 8 == 0) c.r[1] &= 3;
        if (is_final(c)) continue;
        const Call after = hvc(c);
        for (const u32 word : after.r) digest = (digest ^ word) * 16777619; // FNV
    }
    print("calls: ", count, " random ones, digest ", Hex{digest}, "\n");
}

void other_conduit() {
    const Fault fault = faults_of([] {
        asm volatile(".arch_extension sec\n\tsmc #0" ::: "memory");
    });
    print("calls: SMC, exception ", static_cast<u32>(fault.kind), " count ", fault.count, "\n");
}

} // namespace

void guest_main() {
    each_function();
    random_calls(200'000);
    other_conduit();
    done();
}

void secondary_main() {}
