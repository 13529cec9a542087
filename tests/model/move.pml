/* A page of memory that moves between CPUs (services/moving/): each can read it where nobody has stored since, and store
 * where nobody else has it. Each CPU has a descriptor of its own, and a TLB. A CPU whose descriptor does not allow what it
 * wants traps, takes the page, or the right to store, from the CPUs that have it, and goes on. live.pml has what a change
 * of one descriptor is; docs/tlb.md explains both; run.sh runs it.
 *
 *   foreign   no CPU uses the page in a way that the records do not say
 *   late      nor does an access arrive that it made before
 *   both      no two TLBs have it if one may store
 *   again     no CPU traps for what it has
 */
#ifndef CPUS
#define CPUS 3
#endif

#include "move_variants.pml"

hidden byte variant;
bit foreign, late, both, again;

#define NONE 255
#define INVALID 0
#define READ 1
#define STORE 2

byte right[CPUS];         /* as the records of the moves say */
bit locked;
byte entry[CPUS];         /* what a walk finds */
byte coming[CPUS] = NONE; /* on its way there */
byte tlb[CPUS];
bit told[CPUS];           /* an invalidation that has not taken place there */
byte posted[CPUS];        /* an access that has not arrived */

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
    coming[c] = wanted;
    wait_for_stores()
}
inline take() { /* from all that must not have it so any more; they are told as in live.pml */
    for (i : 0 .. CPUS - 1) {
        if
        :: i != c && right[i] != INVALID && (wanted == STORE || right[i] == STORE) ->
            takes = 1;
            if
            :: variant == MOVE_ONE_VIEW -> coming[i] = right[i]
            :: else -> coming[i] = (wanted == STORE -> INVALID : READ)
            fi
        :: else
        fi
    };
    if
    :: takes ->
        unless(MOVE_NO_DSB_BEFORE_TLBI, wait_for_stores());
        skip;
        d_step {
            for (i : 0 .. CPUS - 1) { told[i] = variant != MOVE_NO_TLBI && (wanted == STORE || variant != MOVE_NO_TLBI_FOR_LOADS) }
            i = 0
        };
        if
        :: variant != MOVE_NO_DSB_BEHIND_TLBI ->
            for (i : 0 .. CPUS - 1) { !told[i] && !posted[i] }
        :: else
        fi;
        wait_for_stores()
    :: else
    fi
}
inline move() {
    again = right[c] >= wanted;
    assert(!again);
    if
    :: variant == MOVE_GIVEN_FIRST -> give()
    :: else
    fi;
    takes = 0;
    take();
    skip;
    d_step { /* the record */
        for (i : 0 .. CPUS - 1) {
            if
            :: i != c && wanted == STORE -> right[i] = INVALID
            :: i != c && right[i] == STORE -> right[i] = READ
            :: else
            fi
        };
        i = 0;
        takes = right[c] == READ
    };
    give();
    right[c] = wanted;
    if
    :: takes -> unless(MOVE_NO_LOCAL_TLBI, tlb[c] = INVALID)
    :: else
    fi;
    takes = 0; i = 0
}

/* What may happen at any time: walks and a TLB that is finite; invalidations, stores and accesses that take place. */
proctype memory(byte c) {
    byte n;
    do
    :: atomic { entry[c] != INVALID && tlb[c] == INVALID ->
            tlb[c] = entry[c];
            for (n : 0 .. CPUS - 1) { both = both || (n != c && tlb[n] != INVALID && (tlb[n] == STORE || tlb[c] == STORE)) };
            n = 0;
            assert(!both)
        }
    :: tlb[c] != INVALID -> tlb[c] = INVALID
    :: atomic { told[c] -> tlb[c] = INVALID; told[c] = 0 }
    :: atomic { coming[c] != NONE -> entry[c] = coming[c]; coming[c] = NONE }
    :: atomic { posted[c] -> late = right[c] < posted[c]; assert(!late); posted[c] = 0 }
    od
}

proctype cpu(byte c) {
    byte i, wanted;
    bit takes;
    do
    :: atomic { tlb[c] != INVALID && !posted[c] -> foreign = right[c] < READ; assert(!foreign); posted[c] = READ }
    :: atomic { tlb[c] == STORE && !posted[c] -> foreign = right[c] < STORE; assert(!foreign); posted[c] = STORE }
    :: /* it traps, and tries again if the lock is taken */
        if
        :: tlb[c] == INVALID && entry[c] == INVALID -> wanted = READ
        :: tlb[c] == READ || (tlb[c] == INVALID && entry[c] != STORE) -> wanted = STORE
        fi;
        if
        :: atomic { !locked || variant == MOVE_NO_LOCK -> locked = 1 };
            move();
            locked = 0
        :: else
        fi;
        wanted = 0
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
