// Runs the cases of generate.py: sets the whole state of the CPU, executes one instruction, and
// prints a checksum of the result in a line. Then repeats this with a timer that interrupts.
// judge.py compares the lines of runs without and with a hypervisor, and the trace with the
// accesses expected from the cases.
#include "pages.hpp"

using namespace guest;
using namespace instructions;

namespace {

/// Last word of the palette: announces the next case, to divide the trace.
constexpr u32 marker = palette + 0x1fc;
constexpr u32 interrupted_pass = 0x8000'0000;
constexpr u32 most_cases = 32768;
u32 sums[most_cases];

struct Outcome {
    State state;
    End end;
    u32 status;  ///< DFSR, if it aborted
    u32 address; ///< DFAR
    u32 sum;
};

/// FNV-1a, by words.
struct Sum {
    u32 value = 0x811c'9dc5;
    void add(u32 word) { value = (value ^ word) * 0x0100'0193 ^ word >> 15; }
};

State initial_state(const Case& c) {
    State state{};
    for (u32 i = 0; i < 15; ++i) state.r[i] = c.r[i];
    state.r[15] = place_code(c);
    state.cpsr = c.cpsr;
    state.spsr = c.spsr;
    state.fpscr = 0x9800'0000; // N and V; QC; nothing that affects loads and stores
    for (u32 i = 0; i < 7; ++i) state.user[i] = 0xa5b6'c700 + i * 0x0101'0101;
    state.user[5] = c.user_sp;
    for (u32 i = 0; i < 64; ++i) state.d[i] = 0xd0d1'd2d3 ^ i * 0x1f3b'5d79;
    return state;
}

u32 sum_of(const Case& c, const Outcome& outcome) {
    Sum sum;
    const u32* words = reinterpret_cast<const u32*>(&outcome.state);
    for (u32 i = 0; i < sizeof(State) / 4; ++i) sum.add(words[i]);
    sum.add(static_cast<u32>(outcome.end));
    sum.add(outcome.status);
    sum.add(outcome.address);
    const Words words_there = words_of(c);
    for (u32 at = words_there.begin; at < words_there.end; at += 4) sum.add(read(at));
    return sum.value;
}

/// The interrupted pass replaces this, between preparing a case and running it.
void nothing(const Case&) {}

Outcome run(const Case& c, u32 number, void (*just_before)(const Case&) = nothing) {
    prepare_words(c);
    Outcome outcome{initial_state(c), {}, 0, 0, 0};
    write(marker, number);
    just_before(c);
    outcome.end = run_case(&outcome.state);
    if (outcome.end == End::data_abort) {
        asm volatile("mrc p15, 0, %0, c5, c0, 0" : "=r"(outcome.status));
        asm volatile("mrc p15, 0, %0, c6, c0, 0" : "=r"(outcome.address));
    }
    outcome.sum = sum_of(c, outcome);
    return outcome;
}

/// Whether an abort left everything unchanged: registers, PC, memory.
bool is_unchanged(const Case& c, const Outcome& outcome) {
    State before = initial_state(c);
    before.r[15] = c.slot;
    if ((c.cpsr & 0x1f) <= 0x10) { // User has no SPSR, and uses its own bank
        before.spsr = 0;
        before.user[5] = c.r[13];
        before.user[6] = c.r[14];
    }
    if ((c.cpsr & 0x1f) != 0x11)
        for (u32 i = 0; i < 5; ++i) before.user[i] = c.r[8 + i];
    constexpr u32 it_state = 0x0600'fc00; // of a block in progress; the sum includes it
    const u32* a = reinterpret_cast<const u32*>(&before);
    const u32* b = reinterpret_cast<const u32*>(&outcome.state);
    for (u32 i = 0; i < sizeof(State) / 4; ++i) {
        const u32 mask = a + i == &before.cpsr ? ~it_state : ~0u;
        if (((a[i] ^ b[i]) & mask) != 0) return false;
    }
    const Words words = words_of(c);
    for (u32 at = words.begin; at < words.end; at += 4) {
        const u32 plant = (at - c.target - c.plant_offset) / 4;
        const u32 right = plant < c.plant_count ? c.plant[plant] : seed(at);
        if (is_writable(at) && read(at) != right) return false;
    }
    return true;
}

void print_end(const Case& c, const Outcome& outcome) {
    const u32 pc = outcome.state.r[15];
    if (outcome.end == End::undefined) print(" undefined");
    else if (outcome.end == End::data_abort)
        print(" aborted ", Hex{outcome.status}, " at ", Hex{outcome.address},
              is_unchanged(c, outcome) ? " unchanged" : " changed");
    else if (pc == c.slot + c.size) print(" next");
    else if (pc > c.slot && pc < c.slot + code_space) print(" landed");
    else print(" lost at ", Hex{pc});
}

void print_state(const Case& c, const State& state) {
    const u32* words = reinterpret_cast<const u32*>(&state);
    for (u32 i = 0; i < sizeof(State) / 4; ++i)
        print(i % 8 == 0 ? "\n   " : "", " ", Hex{words[i]});
    const Words shown = words_of(c);
    print("\n  from ", Hex{shown.begin}, ":");
    for (u32 at = shown.begin; at < shown.end; at += 4) print(" ", Hex{read(at)});
    print("\n");
}

u32 run_all() {
    u32 count = 0;
    for (const Case* c = cases_begin; c != cases_end; ++c, ++count) {
        require(count < most_cases, "more cases than there is room for");
        const Outcome outcome = run(*c, count);
        sums[count] = outcome.sum;
        print(c->name);
        print_end(*c, outcome);
        print(" ", Hex{outcome.sum}, "\n");
        if ((c->flags & show) != 0) print_state(*c, outcome.state);
    }
    return count;
}

void set_timer(u32 ticks, bool on) {
    asm volatile("mcr p15, 0, %0, c14, c3, 0" ::"r"(ticks));      // CNTV_TVAL
    asm volatile("mcr p15, 0, %0, c14, c3, 1" ::"r"(on ? 1 : 0)); // CNTV_CTL
    asm volatile("isb");
}

/// Requests one interrupt close to the case: before it, during its step, or after it.
void interrupt_soon(const Case& c) {
    static u32 phase = 0;
    phase = (phase + 37) % 1021;
    watched_address = c.slot + c.size;
    set_timer(phase, true);
}

void run_interrupted() {
    enable_gic();
    set_tick(1'000'000); // set by the handler: no more for this case
    u32 different = 0;
    u32 count = 0;
    for (u32 number = 0; cases_begin + number != cases_end; ++number) {
        const Case& c = cases_begin[number];
        if ((c.flags & interruptible) == 0) continue;
        const Outcome outcome = run(c, number | interrupted_pass, interrupt_soon);
        set_timer(0, false);
        ++count;
        if (outcome.sum == sums[number]) continue;
        ++different;
        print(c.name, " is different with interrupts");
        print_end(c, outcome);
        print("\n");
    }
    print("interrupted: ", count, " cases, ", different, " different\n");
    print("interrupts: ", interrupts(), ", of them ", interrupts_there, " behind an instruction\n");
}

void enable_swap() {
    constexpr u32 sctlr_sw = 1u << 10;
    u32 sctlr = 0;
    asm volatile("mrc p15, 0, %0, c1, c0, 0" : "=r"(sctlr));
    asm volatile("mcr p15, 0, %0, c1, c0, 0\n\tisb" ::"r"(sctlr | sctlr_sw));
}

} // namespace

void guest_main() {
    enable_swap();
    map_pages();
    start_vectors();
    write(gic_interface + 0, 0u);
    write(gic_interface + 4, 0xf0u); // expected by the cases on its page
    const u32 count = run_all();
    print("run: ", count, " cases\n");
    run_interrupted();
    done();
}

void secondary_main() {}
