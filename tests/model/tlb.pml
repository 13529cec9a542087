/* The TLB protocol of hyp/core/mm/guest_view.hpp, the step of hyp/core/machine/stepping.hpp and the locks of hyp/core/trace/
 * with everything that CPUs and guests may do meanwhile. docs/tlb.md explains it; run.sh runs it.
 */
#ifndef CPUS
#define CPUS 2
#endif
#define PAGES 2

#include "variants.pml"

/* Chosen when the model is run, not when it is compiled. */
hidden byte variant;
hidden byte traced_pages;
hidden byte budget; /* operations of each CPU; 0: without end */

#include "properties.pml"
#include "memory_system.pml"
#include "hypervisor.pml"
#include "guest.pml"

init {
    byte c, i, k;
    d_step {
        c_code {
            variant = atoi(getenv("VARIANT"));
            traced_pages = atoi(getenv("TRACED"));
            budget = atoi(getenv("BUDGET"));
        };
        marked = 1;
        told = 1;
        mapped[0] = 1;
        mapped[1] = 1;
        everybody_walks()
    };
    atomic {
        for (c : 0 .. CPUS - 1) {
            run cpu(c)
        }
        c = 0
    }
}
