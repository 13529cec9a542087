/* A device in a process, with and without a debugger that watches the accesses. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <unistd.h>

uint32_t distributor_address;

enum { iidr = 2, isenabler0 = 0x100 / 4, peripheral_id = 0xfe0 / 4 };

static volatile uint32_t *map(uint32_t address) {
    const uint32_t offset = address & 0xfff;
    const int memory = open("/dev/mem", O_RDWR | O_SYNC);
    char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, (off_t)(address - offset));
    if (at == MAP_FAILED) printf("/dev/mem at %#x: %s\n", address, strerror(errno));
    close(memory);
    return at == MAP_FAILED ? NULL : (volatile uint32_t *)(at + offset);
}

volatile uint32_t *map_distributor(void) { return map(distributor_address); }

static volatile uint32_t *gic;

static void plain_accesses(void) {
    for (int i = 0; i < 8; i++) printf("id %d: %#x\n", i, gic[peripheral_id + i]);
    printf("IIDR %#x, its bytes %#x %#x, its half %#x\n", gic[iidr], ((volatile uint8_t *)gic)[8],
           ((volatile uint8_t *)gic)[9], ((volatile uint16_t *)gic)[4]);
    printf("ISENABLER0 %#x\n", gic[isenabler0]);
    printf("thumb %#x, post-indexed and double %#x\n", load_thumb(gic + peripheral_id),
           load_twice(gic + peripheral_id));
}

static void load_id(void) {
    uint32_t sum = 0;
    for (int i = 0; i < 3; i++) sum += load_arm(gic + peripheral_id + 2);
    _exit((int)(sum & 0x7f));
}
static void load_id_thumb(void) {
    uint32_t sum = 0;
    for (int i = 0; i < 3; i++) sum += load_thumb(gic + peripheral_id + 2);
    _exit((int)(sum & 0x7f));
}
static void store_zero(void) {
    for (int i = 0; i < 3; i++) store_arm(gic + isenabler0, 0); /* enables nothing */
    _exit((int)(gic[isenabler0] >> 27 & 1));
}

static void software_breakpoint(void) {
    const uint32_t breakpoint = 0xe7f001f0;
    const pid_t child = start_child(load_id);
    const long instruction = ptrace(PTRACE_PEEKTEXT, child, load_arm_next, 0);
    ptrace(PTRACE_POKETEXT, child, load_arm_next, breakpoint);
    go_on(child, "device, software breakpoint behind");
    ptrace(PTRACE_POKETEXT, child, load_arm_next, instruction);
    go_on(child, "device, software breakpoint behind");
}

static volatile unsigned alarms;
static void count_alarm(int number) { alarms += number == SIGALRM; }

/* Signals end between any two accesses, and change nothing. */
static void interrupted_accesses(void) {
    enum { accesses = 20000 };
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    const uint32_t id = gic[peripheral_id];
    unsigned equal = 0;
    signal(SIGALRM, count_alarm);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < accesses || alarms < 3; i++) equal += load_arm(gic + peripheral_id) == id && i < accesses;
    setitimer(ITIMER_REAL, &never, NULL);
    printf("device, with signals: %u of %u equal\n", equal, (unsigned)accesses);
}

void device_part(void) {
    gic = map_distributor();
    if (gic == NULL) return;
    const volatile void *id = gic + peripheral_id + 2, *enable = gic + isenabler0;
    plain_accesses();
    stop_each_time("device, breakpoint at the load", load_id, (struct point){execute, (void *)load_arm, 4});
    stop_each_time("device, breakpoint behind the load", load_id, (struct point){execute, load_arm_next, 4});
    stop_each_time("device, breakpoint at a Thumb load", load_id_thumb,
                   (struct point){execute, (void *)((uintptr_t)load_thumb & ~1u), 2});
    stop_each_time("device, breakpoint behind a Thumb load", load_id_thumb,
                   (struct point){execute, (void *)((uintptr_t)load_thumb_next & ~1u), 2});
    stop_each_time("device, breakpoint behind the store", store_zero, (struct point){execute, store_arm_next, 4});
    stop_each_time("device, watchpoint on the load", load_id, (struct point){load, id, 4});
    stop_each_time("device, watchpoint on the Thumb load", load_id_thumb, (struct point){load_or_store, id, 4});
    stop_each_time("device, watchpoint on the store", store_zero, (struct point){store, enable, 4});
    stop_each_time("device, watchpoint beside it", load_id, (struct point){load, gic + peripheral_id + 3, 4});
    stop_each_time("device, watchpoint in memory", store_zero, (struct point){store, &alarms, 4});
    software_breakpoint();
    interrupted_accesses();
}

static volatile uint32_t *somewhere;
static void load_somewhere(void) {
    printf("there is %#x\n", load_arm(somewhere));
    fflush(stdout);
    _exit(0);
}
static void store_somewhere(void) {
    store_arm(somewhere, 1);
    _exit(0);
}

void bus_part(uint32_t address) {
    printf("at %#x:\n", address);
    somewhere = map(address);
    if (somewhere == NULL) return;
    run("  load", load_somewhere);
    run("  store", store_somewhere);
    munmap((void *)((uintptr_t)somewhere & ~0xfffu), 4096);
}
