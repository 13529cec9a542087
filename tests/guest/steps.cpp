// Accesses that HSR does not describe, where there are no breakpoints: the guest steps them at PL1;
// any other is an external abort that changes nothing, and the guest goes on. Needs the hypervisor
// with mmioscope,no-breakpoints, and clcd traced.
#include "platform.hpp"
#include "run_form.hpp"

#include <initializer_list>

using namespace guest;

namespace {

// clang-format off: one line each
#define CODE(name, isa, before, text)                                                              \
    asm(".pushsection .text.steps." #name ", \"ax\"\n." isa "\n.balign 4096\n" before              \
        "\n.type code_" #name ", %function\n.global code_" #name "\ncode_" #name ":\n" text        \
        "\n.popsection\n.arm");                                                                    \
    extern "C" void code_##name();
CODE(load, "arm", "", "ldr r2, [r0], #4; bx lr")
CODE(store, "arm", "", "str r2, [r0], #4; bx lr")
CODE(narrow, "thumb", "", "stmia r0!, {r2, r3}; ldmia r1!, {r4, r5}; nop; bx lr")
CODE(wide, "thumb", "nop", "strd r2, r3, [r0], #8; ldrd r4, r5, [r1], #8; bx lr")
CODE(last, "arm", ".space 4092",
     "ldr r2, [r0], #4; bx lr") // the next instruction is on the next page
CODE(it, "thumb", "", "cmp r0, #0; itt ne; ldrne.w r2, [r0], #4; nopne; bx lr")
CODE(across, "thumb", ".space 4094", "ldr.w r2, [r0], #4; bx lr")           // on two pages
CODE(call_across, "thumb", ".space 4090", "ldr.w r2, [r0], #4; nop; bx lr") // an SMC would be
// clang-format on

constexpr u32 external_abort = 0x08; // DFSR: synchronous, on no table walk (ARM ARM B3.13.3)
constexpr u32 status_mask = 0x40f;
constexpr u32 kept = 0x600d'600d;

/// r0 and r1 are the palette's address.
Registers run(void (*code)(), bool user = false) {
    Registers registers{{palette, palette, 0x1111'1111, 0x2222'2222}, 0};
    run_form(code, &registers, user);
    return registers;
}

void stepped() {
    Registers after = run(code_store);
    require(after.r[0] == palette + 4 && read(palette) == 0x1111'1111, "a store with writeback");
    after = run(code_load);
    require(after.r[0] == palette + 4 && after.r[2] == 0x1111'1111, "a load with writeback");
    for (const auto code : {code_narrow, code_wide}) {
        write(palette, 0u);
        write(palette + 4, 0u);
        after = run(code);
        require(after.r[0] == palette + 8 && after.r[1] == palette + 8, "a base register");
        require(after.r[4] == 0x1111'1111 && after.r[5] == 0x2222'2222, "a pair in Thumb state");
    }
    after = run(code_last);
    require(after.r[0] == palette + 4 && after.r[2] == 0x1111'1111, "at the end of a page");

    u32 value = 0;
    u32 failed = 1;
    asm volatile("ldrex %0, [%2]\n\tadd %0, %0, #1\n\tstrex %1, %0, [%2]"
                 : "=&r"(value), "=&r"(failed)
                 : "r"(palette)
                 : "memory");
    require(failed == 0 && read(palette) == 0x1111'1112, "exclusives");
    print("steps: ARM, Thumb, exclusives\n");
}

void refused(const char* what, void (*code)(), bool user = false) {
    Registers after{};
    write(palette, kept);
    const Fault fault = faults_of([&] { after = run(code, user); });
    print("refused: ", what, "\n");
    require(fault.kind == Kind::data_abort && fault.count == 1, "not one data abort");
    require((fault.status & status_mask) == external_abort, "it is not an external abort");
    require(fault.address == palette, "it is an abort of another address");
    require(after.r[0] == palette && after.r[2] == 0x1111'1111, "it has changed a register");
    require(read(palette) == kept, "it has reached the device");
}

} // namespace

void guest_main() {
    stepped();
    refused("a load in User mode", code_load, true);
    refused("a store in User mode", code_store, true);
    refused("in an IT block", code_it);
    refused("across two pages", code_across);
    refused("an SMC across two pages", code_call_across);
    done();
}

void secondary_main() {}
