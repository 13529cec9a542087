/* Loads from a device around which memory is not there: the page behind the instruction, or the device's own page,
 * which another thread takes away and puts back meanwhile. */
#define _GNU_SOURCE
#include "probe.h"

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

void faults_part(void) {
    gic = map_distributor();
    if (gic == NULL) return;
    run("device, load before a page", load_before_page);
    run("device, load before nothing", load_before_nothing);
    page_taken_away();
}
