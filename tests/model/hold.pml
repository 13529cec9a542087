/* Two CPUs and more change a word by exclusives, in a page that moves between them (services/moving/): does it ever end?
 * A trap takes the monitor of its CPU (CLREX behind each is what the architecture allows, A3.4), and each of the two
 * instructions may trap. So a page that came to a CPU stays until that has made the pair. The time is counted in
 * instructions of that CPU, which runs meanwhile. move.pml has what a move is; run.sh runs it.
 *
 *   livelock   for ever no store-exclusive stores, although each CPU runs
 */
#ifndef CPUS
#define CPUS 3
#endif

#include "hold_variants.pml"

hidden byte variant;

#define INVALID 0
#define READ 1
#define STORE 2
#define PAIR 3 /* the store that trapped, and fails; the load; the store */

byte right[CPUS];
bit monitor[CPUS];
byte hold, holder; /* so many instructions more nobody takes it, by the CPU that it came to */
bit ours;

inline executes() {
    if
    :: holder == c && hold > 0 -> hold--
    :: else
    fi
}

/* An instruction traps. source: hyp/services/moving/moving_pages.cpp MovingPages::get */
inline get(wanted) {                          /* = if (cpu.ring.stalls() && !cpu.ring.has_room(limit_ != 0 ? most_records : 1)) return; */
    atomic {                                  /* = Lock& lock = page_locks.of({at}); */
                                              /* = if (!lock.try_acquire(cpu.number, RegionLocks::max_turns, cpu.ring.statistics().lock_spins)) return; */
                                              /* = const bool store = by == abi::MoveBy::store; */
                                              /* = const unsigned me = 1u << cpu.number; */
        ours = right[c] >= wanted;            /* = const bool has = (page.holders & me) != 0 && (page.writable || !store); */
        takes = 0;                            /* = const unsigned losers = store ? page.holders & ~me : page.writable ? page.holders : 0; */
        for (n : 0 .. CPUS - 1) { takes = takes || (n != c && right[n] != INVALID && (wanted == STORE || right[n] == STORE)) };
        n = 0;
        executes();
        if
        :: ours                               /* = if (has || page.lent || page.free) cpu.view.forget(); */
        :: !ours && (!takes || hold == 0 ||   /* = else if (losers == 0 || page.last == cpu.number || now() - page.since >= hold_) move(cpu, at, by, page, losers); */
                     (holder == c && variant != HOLD_OWN)) ->
            for (n : 0 .. CPUS - 1) {
                if
                :: n != c && wanted == STORE -> right[n] = INVALID
                :: n != c && right[n] == STORE -> right[n] = READ
                :: else
                fi
            };
            n = 0;
            right[c] = wanted;
            holder = c;
            hold = (variant == HOLD_NOTHING || (variant == HOLD_FOR_LOADS && wanted == STORE) -> 0 :
                    (variant == HOLD_ONE || variant == HOLD_ONE_OF_QEMU -> 1 : (variant == HOLD_NO_STORE -> PAIR - 1 : PAIR)))
        :: else
        fi;
        ours = 0; takes = 0;
        if
        :: variant != HOLD_ONE_OF_QEMU -> monitor[c] = 0
        :: else
        fi                                    /* = lock.release(); */
                                              /* = if (limit_ != 0) take_back(cpu); */
    }
}

proctype cpu(byte c) {
    byte n;
    bit takes;
load:
    if
    :: atomic { right[c] >= READ -> monitor[c] = 1; executes() }
    :: right[c] < READ -> get(READ); goto load
    fi;
store:
    if
    :: atomic { right[c] == STORE && monitor[c] ->
            for (n : 0 .. CPUS - 1) { monitor[n] = 0 };
            n = 0;
            executes()
        };
progress:
        skip
    :: atomic { !monitor[c] -> executes() } /* asks its monitor first */
    :: right[c] < STORE -> get(STORE); goto store
    fi;
    goto load
}

init {
    byte c;
    d_step { c_code { variant = atoi(getenv("VARIANT")); }; skip };
    atomic { for (c : 0 .. CPUS - 1) { run cpu(c) } }
}
