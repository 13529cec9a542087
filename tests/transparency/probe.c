/* Prints what Linux's debug facilities see: the same lines with and without a hypervisor. */
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>

/* probe DISTRIBUTOR ADDRESS...: of the interrupt controller, and where the bus may answer with an error. */
int main(int count, char **words) {
    if (count < 2) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    distributor_address = (uint32_t)strtoul(words[1], NULL, 16);
    ptrace_part();
    device_part();
    faults_part();
    for (int i = 2; i < count; i++) bus_part((uint32_t)strtoul(words[i], NULL, 16));
    perf_part();
    return 0;
}
