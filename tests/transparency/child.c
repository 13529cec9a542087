/* A traced child, and the debug registers it is given. */
#include "probe.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PTRACE_GETHBPREGS
#define PTRACE_GETHBPREGS 29
#define PTRACE_SETHBPREGS 30
#endif

pid_t start_child(child_body *body) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20); /* nobody waits longer for a stop that does not come */
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        body();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return child;
}

static void set_register(pid_t child, long number, uint32_t value) {
    if (ptrace(PTRACE_SETHBPREGS, child, (void *)number, &value) != 0)
        printf("  register %ld: %s\n", number, strerror(errno));
}

/* The kernel moves the byte address select to the address's place in its word itself. */
static uint32_t control(struct point point) {
    const uint32_t bytes = (1u << point.bytes) - 1;
    const uint32_t user = 2;
    return user << 1 | (uint32_t)point.kind << 3 | bytes << 5;
}

/* Breakpoints have positive numbers, watchpoints negative ones: address 1, control 2. */
static long sign(struct point point) { return point.kind == execute ? 1 : -1; }

/* The length first: the kernel checks an address against it. */
void set_point(pid_t child, struct point point) {
    set_register(child, sign(point) * 2, control(point));
    set_register(child, sign(point) * 1, (uint32_t)(uintptr_t)point.address);
    set_register(child, sign(point) * 2, control(point) | 1);
}

void clear_point(pid_t child, struct point point) { set_register(child, sign(point) * 2, control(point)); }

static void print_stop(pid_t child, const char *name, int number) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    ptrace(PTRACE_GETSIGINFO, child, 0, &info);
    uint32_t registers[18];
    ptrace(PTRACE_GETREGS, child, 0, registers);
    printf("%s: %s, code %d, pc %#x, r0 %#x", name, strsignal(number), info.si_code, registers[15], registers[0]);
    if (info.si_code > 0) /* from the kernel; else the sender's PID is where the address would be */
        printf(", number %d, address %#x", info.si_errno, (unsigned)(uintptr_t)info.si_addr);
    printf("\n");
}

int go_on(pid_t child, const char *name) {
    int status;
    ptrace(PTRACE_CONT, child, 0, 0);
    if (waitpid(child, &status, 0) != child) {
        printf("%s: waitpid: %s\n", name, strerror(errno));
        return 0;
    }
    if (WIFSTOPPED(status)) {
        print_stop(child, name, WSTOPSIG(status));
        return 1;
    }
    if (WIFSIGNALED(status)) printf("%s: killed by %s\n", name, strsignal(WTERMSIG(status)));
    else printf("%s: ends with %d\n", name, WEXITSTATUS(status));
    return 0;
}

void run(const char *name, child_body *body) {
    const pid_t child = start_child(body);
    for (int turns = 0; turns < 4; turns++)
        if (!go_on(child, name)) return;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* The next instruction of the probe's functions is the one behind; a Thumb one is two bytes long. */
static struct point behind(pid_t child) {
    uint32_t registers[18];
    ptrace(PTRACE_GETREGS, child, 0, registers);
    const uint32_t thumb = registers[16] >> 5 & 1;
    const uint32_t length = thumb ? 2 : 4;
    return (struct point){execute, (void *)(uintptr_t)(registers[15] + length), length};
}

void stop_each_time(const char *name, child_body *body, struct point point) {
    const pid_t child = start_child(body);
    set_point(child, point);
    for (int turns = 0; turns < 20 && go_on(child, name); turns++) {
        clear_point(child, point);
        const struct point next = behind(child);
        set_point(child, next);
        if (!go_on(child, "  behind it")) return;
        clear_point(child, next);
        set_point(child, point);
    }
}
