/* Loads from a device around which memory is not there: the page behind the instruction, its own page, the device's
 * own page, which another thread takes away and puts back meanwhile, or the page behind the device's. */
#define _GNU_SOURCE
#include "probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <unistd.h>

enum { page = 4096, id_offset = 0xfe8, turns = 400 };

static volatile uint32_t *gic;

/* `ldr r0, [r0]` as the last instruction of a page; behind it `bx lr`, in a page that is `there` or not. */
static word_of *load_at_end_of_page(int there) {
    const uint32_t load = 0xe5900000, back = 0xe12fff1e;
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(pages + page - 4, &load, 4);
    memcpy(pages + page, &back, 4);
    mprotect(pages, page, PROT_READ | PROT_EXEC);
    mprotect(pages + page, page, there ? PROT_READ | PROT_EXEC : PROT_NONE);
    __builtin___clear_cache(pages, pages + 2 * page);
    return (word_of *)(uintptr_t)(pages + page - 4);
}
static void load_before_page(void) {
    const uint32_t id = load_at_end_of_page(1)((uint32_t)(uintptr_t)(gic + id_offset / 4));
    _exit((int)id);
}
static void load_before_nothing(void) {
    load_at_end_of_page(0)((uint32_t)(uintptr_t)(gic + id_offset / 4));
}

/* One thread loads, another maps the device there, and nothing, in turn. Each load gives the device's word or is the
 * process's own fault at that address. */
static volatile uint32_t *window;
static volatile int finished;
static sigjmp_buf behind_load;
static volatile uintptr_t fault_address;

static void on_fault(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    fault_address = (uintptr_t)info->si_addr;
    siglongjmp(behind_load, 1);
}

static void *map_and_unmap(void *unused) {
    for (int i = 0; i < turns; i++) {
        mprotect((void *)window, page, PROT_NONE);
        usleep(50);
        mprotect((void *)window, page, PROT_READ);
        usleep(50);
    }
    finished = 1;
    return unused;
}

static void page_taken_away(void) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    volatile unsigned loaded = 0, faults = 0, wrong = 0;
    window = map_distributor();
    const uint32_t id = window[id_offset / 4];
    sigaction(SIGSEGV, &action, NULL);
    pthread_t other;
    pthread_create(&other, NULL, map_and_unmap, NULL);
    while (!finished) {
        if (sigsetjmp(behind_load, 0) == 0) {
            wrong += load_arm(window + id_offset / 4) != id;
            loaded++;
        } else {
            wrong += fault_address != (uintptr_t)(window + id_offset / 4);
            faults++;
        }
    }
    pthread_join(other, NULL);
    signal(SIGSEGV, SIG_DFL);
    printf("device, page taken away: %s loads, %s faults, %u wrong\n", loaded > 0 ? "some" : "no",
           faults > 0 ? "some" : "no", wrong);
}

/* One thread loads two words, by an instruction in a page of a file, another drops that page: it comes back at the
 * next fetch. No signal comes. */
static void *drop_code(void *code) {
    for (int i = 0; i < 60 * turns; i++) {
        madvise(code, page, MADV_DONTNEED);
        for (volatile int wait = 0; wait < 300; wait++) {}
    }
    finished = 1;
    return NULL;
}

static void on_signal(int number) {
    (void)number;
    siglongjmp(behind_load, 1);
}

static void code_dropped(void) {
    static const uint32_t load_and_return[] = {0xe8900006, 0xe12fff1e}; /* ldm r0, {r1, r2}; bx lr */
    volatile unsigned loaded = 0, signals = 0, wrong = 0;
    const int file = open("/code", O_RDWR | O_CREAT | O_TRUNC, 0700);
    if (write(file, load_and_return, sizeof load_and_return) != sizeof load_and_return) return;
    ftruncate(file, page);
    void *code = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    const uint32_t id = gic[id_offset / 4];
    signal(SIGBUS, on_signal), signal(SIGSEGV, on_signal), signal(SIGILL, on_signal);
    finished = 0;
    pthread_t other;
    pthread_create(&other, NULL, drop_code, code);
    while (!finished) {
        if (sigsetjmp(behind_load, 1) == 0) {
            register const volatile uint32_t *from asm("r0") = gic + id_offset / 4;
            register uint32_t value asm("r1");
            asm volatile("blx %2" : "=r"(value) : "r"(from), "r"(code) : "r2", "lr", "memory");
            wrong += value != id;
            loaded++;
        } else {
            signals++;
        }
    }
    pthread_join(other, NULL);
    signal(SIGBUS, SIG_DFL), signal(SIGSEGV, SIG_DFL), signal(SIGILL, SIG_DFL);
    printf("device, code page dropped: %s loads, %u signals, %u wrong\n", loaded > 0 ? "some" : "no", signals, wrong);
}

/* Instructions of several words that begin with the device's last word and end in a page of the process, which the
 * kernel maps, or copies, when it is first used. */
enum next_page { late, to_be_copied, read_only, none };

static char *device_before(enum next_page next) {
    const int memory = open("/dev/mem", O_RDWR | O_SYNC);
    char *pages = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mmap(pages, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory, (off_t)distributor_address);
    close(memory);
    if (next == late || next == to_be_copied) mprotect(pages + page, page, PROT_READ | PROT_WRITE);
    if (next == read_only) mprotect(pages + page, page, PROT_READ);
    if (next == to_be_copied || next == read_only) (void)*(volatile char *)(pages + page); /* the page of zeros */
    return pages;
}

static char *volatile halfway_pages;
static volatile int fault_signal;
static void on_fault_halfway(int number, siginfo_t *info, void *context) {
    (void)context;
    fault_signal = number;
    fault_address = (uintptr_t)info->si_addr;
    siglongjmp(behind_load, 1);
}

#define HALFWAY(name, next, instruction)                                                                               \
    do {                                                                                                               \
        halfway_pages = device_before(next);                                                                           \
        if (sigsetjmp(behind_load, 1) == 0) {                                                                          \
            register char *at asm("r0") = halfway_pages + page - 4;                                                    \
            register uint32_t first asm("r2") = 1, second asm("r3") = 2;                                               \
            asm volatile(".fpu neon-vfpv4\n" instruction : "+r"(at), "+r"(first), "+r"(second) : : "d0", "memory");    \
            const int moved = (int)(at - halfway_pages) - page + 4;                                                    \
            printf("device, " name ": moved %d, %#x %#x\n", moved, first, second);                                     \
        } else {                                                                                                       \
            const int where = (int)(fault_address - (uintptr_t)halfway_pages);                                         \
            printf("device, " name ": signal %d at %d\n", fault_signal, where);                                        \
        }                                                                                                              \
        munmap(halfway_pages, 2 * page);                                                                               \
    } while (0)

static void halfway(void) {
    struct sigaction action = {.sa_sigaction = on_fault_halfway, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    HALFWAY("ldm into a late page", late, "ldm r0, {r2, r3}");
    HALFWAY("stm into a late page", late, "stm r0!, {r2, r3}");
    HALFWAY("ldrd into a late page", late, "ldrd r2, r3, [r0]");
    HALFWAY("vldm into a late page", late, "vldm r0!, {d0}\nvmov r2, r3, d0");
    HALFWAY("stm into a page to be copied", to_be_copied, "stm r0!, {r2, r3}");
    HALFWAY("strd into a page to be copied", to_be_copied, "strd r2, r3, [r0]");
    HALFWAY("ldm into a page to be copied", to_be_copied, "ldm r0!, {r2, r3}");
    HALFWAY("stm into a read-only page", read_only, "stm r0!, {r2, r3}");
    HALFWAY("ldm into nothing", none, "ldm r0!, {r2, r3}");
    HALFWAY("vldm into nothing", none, "vldm r0!, {d0}");
    HALFWAY("strd into nothing", none, "strd r2, r3, [r0]");
    signal(SIGSEGV, SIG_DFL), signal(SIGBUS, SIG_DFL);
}

void faults_part(void) {
    gic = map_distributor();
    if (gic == NULL) return;
    run("device, load before a page", load_before_page);
    run("device, load before nothing", load_before_nothing);
    page_taken_away();
    code_dropped();
    halfway();
}
