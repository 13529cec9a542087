/* The performance counters, and breakpoints as events. */
#include "probe.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(struct perf_event_attr *event) {
    event->size = sizeof *event;
    event->disabled = 1;
    event->exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, event, 0, -1, -1, 0);
}

/* What the event counts in a hundred rounds of `body`. Nothing if it cannot be counted. */
static int count(const char *name, struct perf_event_attr *event, child_body *body, unsigned long long *counted) {
    const int fd = open_event(event);
    if (fd < 0) {
        printf("%s: %s\n", name, strerror(errno));
        return 0;
    }
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    for (int i = 0; i < 100; i++) body();
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    const int whole = read(fd, counted, sizeof *counted) == sizeof *counted;
    close(fd);
    if (!whole) printf("%s: cannot be read\n", name);
    return whole;
}

static volatile uint32_t *gic;
static volatile uint32_t watched;

static void call_target(void) { arm_target(0); }
static void write_watched(void) { store_arm(&watched, 1); }
static void load_device(void) { load_arm(gic + 0xfe8 / 4); }

/* How many is the emulator's and the hypervisor's business; that there are some is not. */
static void counter(const char *name, uint32_t type, unsigned long long config) {
    struct perf_event_attr event = {.type = type, .config = config};
    unsigned long long counted;
    if (count(name, &event, call_target, &counted)) printf("%s: %s\n", name, counted > 0 ? "counts" : "none");
}

static void breakpoint(const char *name, uint32_t kind, const volatile void *address, child_body *body) {
    struct perf_event_attr event = {.type = PERF_TYPE_BREAKPOINT, .bp_type = kind, .exclude_kernel = 1};
    event.bp_addr = (uintptr_t)address;
    event.bp_len = HW_BREAKPOINT_LEN_4;
    unsigned long long counted;
    if (count(name, &event, body, &counted)) printf("%s: %llu of 100\n", name, counted);
}

void perf_part(void) {
    counter("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
    counter("instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
    counter("cache references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES);
    counter("branch misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES);
    counter("task clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
    gic = map_distributor();
    breakpoint("perf, breakpoint", HW_BREAKPOINT_X, (void *)arm_target, call_target);
    breakpoint("perf, watchpoint", HW_BREAKPOINT_RW, &watched, write_watched);
    if (gic == NULL) return;
    breakpoint("perf, breakpoint at a device load", HW_BREAKPOINT_X, (void *)load_arm, load_device);
    breakpoint("perf, breakpoint behind a device load", HW_BREAKPOINT_X, load_arm_next, load_device);
    breakpoint("perf, watchpoint on a device", HW_BREAKPOINT_RW, gic + 0xfe8 / 4, load_device);
}
