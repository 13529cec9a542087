/* A page of memory that one CPU has at a time (LiveTables::map for the views of one CPU; tests/core/one_cpus_page.hpp is
 * such a client). Each CPU has a descriptor of its own, and a TLB. A CPU whose descriptor is invalid traps, takes the page
 * from the CPU that has it, and goes on. live.pml has what a change of one descriptor is; docs/tlb.md explains both; run.sh
 * runs it.
 *
 *   foreign   no CPU uses the page while another one has it
 *   late      nor does an access arrive that it made before
 *   both      no two TLBs have it
 */
#ifndef CPUS
#define CPUS 3
#endif

#include "move_variants.pml"

hidden byte variant;
bit foreign, late, both;

#define NOBODY CPUS
#define NONE 255

byte owner = NOBODY;    /* as the records of the moves say */
bit locked;
bit entry[CPUS];        /* what a walk finds */
byte coming[CPUS] = NONE; /* on its way there */
bit tlb[CPUS];
bit told[CPUS];         /* an invalidation that has not taken place there */
bit posted[CPUS];       /* an access that has not arrived */

#define unless(v, s) if :: variant != v -> s :: else fi

inline wait_for_stores() { /* a DSB */
    for (i : 0 .. CPUS - 1) {
        if
        :: atomic { coming[i] != NONE -> entry[i] = coming[i]; coming[i] = NONE }
        :: else
        fi
    }
}
inline give() {
    coming[c] = 1;
    wait_for_stores()
}
inline take() { /* as in live.pml, from `owner` */
    coming[owner] = variant == MOVE_ONE_VIEW;
    unless(MOVE_NO_DSB_BEFORE_TLBI, wait_for_stores());
    skip;
    d_step {
        for (i : 0 .. CPUS - 1) { told[i] = variant != MOVE_NO_TLBI }
        i = 0
    };
    if
    :: variant != MOVE_NO_DSB_BEHIND_TLBI ->
        for (i : 0 .. CPUS - 1) { !told[i] && !posted[i] }
    :: else
    fi;
    wait_for_stores()
}
inline move() {
    if
    :: owner != c ->
        if
        :: variant == MOVE_GIVEN_FIRST -> give()
        :: else
        fi;
        if
        :: owner != NOBODY -> take()
        :: else
        fi;
        owner = c; /* the record */
        give()
    :: else
    fi
}

/* What may happen at any time: walks and a TLB that is finite; invalidations, stores and accesses that take place. */
proctype memory(byte c) {
    byte n;
    do
    :: atomic { entry[c] && !tlb[c] ->
            tlb[c] = 1;
            for (n : 0 .. CPUS - 1) { both = both || (n != c && tlb[n]) };
            assert(!both)
        }
    :: tlb[c] -> tlb[c] = 0
    :: atomic { told[c] -> tlb[c] = 0; told[c] = 0 }
    :: atomic { coming[c] != NONE -> entry[c] = coming[c]; coming[c] = NONE }
    :: atomic { posted[c] -> late = owner != c; assert(!late); posted[c] = 0 }
    od
}

proctype cpu(byte c) {
    byte i;
    do
    :: atomic { tlb[c] && !posted[c] -> foreign = owner != c; assert(!foreign); posted[c] = 1 }
    :: !tlb[c] && !entry[c] -> /* it traps, and tries again if the lock is taken */
        if
        :: atomic { !locked || variant == MOVE_NO_LOCK -> locked = 1 };
            move();
            locked = 0
        :: else
        fi
    od
}

init {
    byte c;
    d_step { c_code { variant = atoi(getenv("VARIANT")); }; skip };
    atomic {
        for (c : 0 .. CPUS - 1) {
            run memory(c);
            run cpu(c)
        }
    }
}
