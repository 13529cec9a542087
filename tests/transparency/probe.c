/* Prints what Linux's debug facilities see: the same lines with and without a hypervisor. */
#include "probe.h"

#include <stdio.h>

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    ptrace_part();
    device_part();
    perf_part();
    return 0;
}
