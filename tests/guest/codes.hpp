// Instructions that are tried by run_form(), from a list `#define ENTRIES(F) F(name, isa, text)
// ...`:
//   ENTRIES(CODE)
//   constexpr Code codes[] = {ENTRIES(ENTRY)};
#pragma once

// clang-format off: one line each
#define CODE(name, isa, text)                                                                      \
    asm(".pushsection .text.codes, \"ax\"\n." isa "\n.balign 4\n.type code_" #name                 \
        ", %function\n.global code_" #name "\ncode_" #name ":\n" text                              \
        "\nbx lr\n.popsection\n.arm");                                                             \
    extern "C" void code_##name();
// clang-format on
#define ENTRY(name, isa, text) {isa " " text, code_##name},

asm(".arch armv7ve\n.fpu neon-vfpv4");

struct Code {
    const char* text;
    void (*code)();
};
