/* What Linux's debug facilities see, printed: the parts of the probe and what they share. */
#ifndef PROBE_H
#define PROBE_H

#include <stdint.h>
#include <sys/types.h>

/* targets.S */
typedef uint32_t word_of(uint32_t);
word_of arm_target, thumb_target;
uint32_t load_arm(const volatile void *), load_thumb(const volatile void *), load_twice(const volatile void *);
void store_arm(volatile void *, uint32_t);
extern char arm_target_next[], thumb_target_next[], load_arm_next[], load_thumb_next[], store_arm_next[];

/* The interrupt controller's distributor, which no driver claims: the one device that /dev/mem maps. */
extern uint32_t distributor_address;
volatile uint32_t *map_distributor(void);

/* A child that is stopped, and goes on in `body`. */
typedef void child_body(void);
pid_t start_child(child_body *body);

/* Breakpoint and watchpoint registers of a stopped child (arch/arm/kernel/ptrace.c). */
enum kind { execute = 0, load = 1, store = 2, load_or_store = 3 };
struct point {
    enum kind kind;
    const volatile void *address;
    unsigned bytes;
};
void set_point(pid_t child, struct point point);
void clear_point(pid_t child, struct point point);

/* Lets the child run until it stops or ends, and prints which. 0: it has ended. */
int go_on(pid_t child, const char *name);

/* Lets the child run to its end, over whatever stops it four times. */
void run(const char *name, child_body *body);

/* The child stops at `point` each time, is let over it, and ends. */
void stop_each_time(const char *name, child_body *body, struct point point);

void ptrace_part(void);
void device_part(void);
void faults_part(void);
void bus_part(uint32_t address);
void perf_part(void);

#endif
