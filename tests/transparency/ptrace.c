/* Breakpoints, watchpoints and signals of a process that a debugger holds, in memory. */
#include "probe.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint32_t watched[4];

static void call_arm(void) {
    uint32_t n = 0;
    for (int i = 0; i < 3; i++) n = arm_target(n);
    _exit((int)n);
}
static void call_thumb(void) {
    uint32_t n = 0;
    for (int i = 0; i < 3; i++) n = thumb_target(n);
    _exit((int)n);
}
static void write_watched(void) {
    for (uint32_t i = 0; i < 3; i++) store_arm(&watched[i], i + 1);
    _exit((int)(watched[0] + watched[1] + watched[2]));
}
static void read_watched(void) {
    uint32_t sum = 0;
    for (int i = 0; i < 3; i++) sum += load_arm(&watched[i]);
    _exit((int)sum);
}

static void print_resources(void) {
    const pid_t child = start_child(call_arm);
    uint32_t value = 0;
    ptrace(29 /* PTRACE_GETHBPREGS */, child, 0, &value);
    printf("resources: architecture %u, %u breakpoints, %u watchpoints of up to %u bytes\n", value >> 24,
           value & 0xff, value >> 8 & 0xff, value >> 16 & 0xff);
    go_on(child, "resources");
}

static void software_breakpoint(void) {
    const uint32_t breakpoint = 0xe7f001f0; /* what gdb writes; the kernel's undefined-instruction hook */
    const pid_t child = start_child(call_arm);
    const long instruction = ptrace(PTRACE_PEEKTEXT, child, arm_target, 0);
    ptrace(PTRACE_POKETEXT, child, arm_target, breakpoint);
    for (int i = 0; i < 2; i++) go_on(child, "software breakpoint"); /* not removed: there it stays */
    ptrace(PTRACE_POKETEXT, child, arm_target, instruction);
    go_on(child, "software breakpoint");
}

static void single_step(void) {
    const pid_t child = start_child(call_arm);
    const long result = ptrace(PTRACE_SINGLESTEP, child, 0, 0);
    printf("single step: %s\n", result == 0 ? "ok" : strerror(errno));
    go_on(child, "single step");
}

static void raise_both(void) {
    signal(SIGUSR1, SIG_IGN);
    raise(SIGUSR1);
    raise(SIGUSR2);
    kill(getpid(), SIGKILL);
}

static void read_counter(void) {
    uint32_t control;
    __asm__ volatile("mrc p15, 0, %0, c9, c12, 0" : "=r"(control)); /* PMCR: PL1's */
    _exit(1);
}
static void read_debug_id(void) {
    uint32_t id;
    __asm__ volatile("mrc p14, 0, %0, c0, c0, 0" : "=r"(id)); /* DBGDIDR: PL0 may read it */
    printf("DBGDIDR %#x\n", id);
    fflush(stdout);
    _exit(0);
}

void ptrace_part(void) {
    print_resources();
    stop_each_time("breakpoint, ARM", call_arm, (struct point){execute, (void *)arm_target, 4});
    stop_each_time("breakpoint, Thumb", call_thumb,
                   (struct point){execute, (void *)((uintptr_t)thumb_target & ~1u), 2});
    stop_each_time("watchpoint, store", write_watched, (struct point){store, &watched[1], 4});
    stop_each_time("watchpoint, byte", write_watched, (struct point){store, (char *)&watched[1] + 1, 1});
    stop_each_time("watchpoint, load", read_watched, (struct point){load, &watched[2], 4});
    stop_each_time("watchpoint, wrong way", read_watched, (struct point){store, &watched[2], 4});
    software_breakpoint();
    single_step();
    run("signals", raise_both);
    run("PMCR", read_counter);
    run("DBGDIDR", read_debug_id);
}
