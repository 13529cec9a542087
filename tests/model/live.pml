/* A descriptor that is changed while other CPUs use it (hyp/services/changing/live_tables.cpp), by break-before-make, with
 * all that walks, TLBs and instruction caches may do meanwhile. CPU 0 changes it, the others access and fetch.
 * docs/tlb.md explains it; run.sh runs it.
 *
 * What a walk may find are two words, each old (1), new (2) or without the valid bit (0; the upper word: nothing that
 * matters). A store is on its way until it arrives, at any time; a barrier waits for it. An invalidation takes place on each
 * CPU at any time until the DSB. Properties:
 *
 *   torn      a walk finds the two words of one value
 *   conflict  no TLB has both values (B3.10.1)
 *   stale     when the change is done, nobody uses the old value, and no access made with it is on its way
 *   old_code  nor an instruction that was fetched by it
 *   missing   a CPU that traps, and finds the lock free, finds the descriptor valid
 *   waiting   (deadlock) everybody comes to an end
 */
#ifndef CPUS
#define CPUS 2
#endif

#include "live_variants.pml"

hidden byte variant;
bit torn, conflict, stale, old_code, missing;

#define NONE 0
#define OLD 1
#define NEW 2

byte lower = OLD, upper = OLD;          /* in memory */
byte coming_lower = 255, coming_upper = 255; /* on their way there; 255: nothing */
byte tlb[CPUS] = OLD;                   /* OLD | NEW */
byte code[CPUS] = OLD;                  /* of the instruction cache, by virtual address */
byte posted[CPUS];                      /* the value by which an access was made that has not arrived */
bit told[CPUS], told_cache[CPUS];       /* an invalidation that has not taken place there */
bit locked, done;

#define unless(v, s) if :: variant != v -> s :: else fi

#define LOWER 1
#define UPPER 2
#define MAY_ARRIVE_LOWER (coming_lower != 255 && !(first == UPPER && coming_upper != 255))
#define MAY_ARRIVE_UPPER (coming_upper != 255 && !(first == LOWER && coming_lower != 255))
byte first; /* of the two on their way, what a DMB has put first */

inline arrive() {
    if
    :: MAY_ARRIVE_LOWER -> lower = coming_lower; coming_lower = 255
    :: MAY_ARRIVE_UPPER -> upper = coming_upper; coming_upper = 255
    fi
}
inline store(word, v) { /* what is on its way to the same word arrives before */
    do
    :: atomic { (word == LOWER -> coming_lower : coming_upper) != 255 -> arrive() }
    :: else -> break
    od;
    if
    :: (word) == LOWER -> coming_lower = v
    :: else -> coming_upper = v
    fi
}
inline wait_for_stores() { /* a DSB: table walks find them. A DMB only orders them. */
    do
    :: atomic { coming_lower != 255 || coming_upper != 255 -> arrive() }
    :: else -> break
    od;
    skip
}

/* source: hyp/core/mm/translation_table.cpp change_entry */
inline change_entry(value) {
    half = ((value == NONE) != (variant == LOWER_FIRST) -> LOWER : UPPER); /* = const bool valid = lpae::is_valid(value); */
    store(half, value);                          /* = port::store_half(entry, valid, value); */
    first = (variant == NO_DMB -> 0 : half);     /* = port::order_memory(); */
    store(LOWER + UPPER - half, value)           /* = port::store_half(entry, !valid, value); */
}

/* source: hyp/services/changing/live_tables.cpp forget_translations */
inline forget_translations() {
    unless(NO_DSB_BEFORE_TLBI, wait_for_stores()); /* = port::complete_all(); */
    skip;
    d_step {
        for (i : 0 .. CPUS - 1) {
            told[i] = variant != NO_TLBI         /* = port::write<reg::TLBIALLNSNHIS>(0); */
        }
        i = 0
    };
    if                                           /* = port::complete_all(); */
    :: variant != NO_DSB_BEHIND_TLBI ->
        for (i : 0 .. CPUS - 1) { !told[i] && posted[i] == 0 }
    :: else
    fi
}

/* source: hyp/services/changing/live_tables.cpp forget_on_all_cpus */
inline forget_on_all_cpus() {
    forget_translations();                       /* = forget_translations(); */
    skip;
    d_step {
        for (i : 0 .. CPUS - 1) {
            told_cache[i] = variant != NO_ICIALLUIS /* = port::write<reg::ICIALLUIS>(0); */
        }
        i = 0
    };
    for (i : 0 .. CPUS - 1) { !told_cache[i] }   /* = port::complete_all(); */
    i = 0                                        /* = port::synchronize_context(); */
}

/* The holder of all locks. source: hyp/services/changing/live_tables.cpp LiveTables::replace */
inline replace() {                       /* = bool broken = false; */
    if                                   /* = for (Descriptor* entry : entries) */
    :: variant != NO_BREAK ->            /* = if (!lpae::is_valid(*entry) || *entry == value) continue; */
        change_entry(NONE);              /* = integrity_.store_sealed(*entry, 0); */
                                         /* = broken = true; */
        forget_on_all_cpus()             /* = if (broken) forget_on_all_cpus(); */
    :: else
    fi;
    change_entry(NEW);                   /* = for (Descriptor* entry : entries) if (*entry != value) integrity_.store_sealed(*entry, value); */
    wait_for_stores();                   /* = port::publish_tables(); */
    if
    :: variant == NO_BREAK -> forget_on_all_cpus()
    :: else
    fi
}

/* What a CPU's memory system does at any time. A TLB is finite: an entry may go. */
inline something(c) {
    if
    :: atomic { lower != NONE ->
            torn = lower != upper; assert(!torn);
            tlb[c] = tlb[c] | lower;
            conflict = tlb[c] == (OLD | NEW); assert(!conflict)
        }
    :: tlb[c] = NONE
    :: atomic { told[c] -> tlb[c] = NONE; told[c] = 0 }
    :: atomic { told_cache[c] -> code[c] = NONE; told_cache[c] = 0 }
    :: atomic { posted[c] != 0 -> stale = done && posted[c] == OLD; assert(!stale); posted[c] = 0 }
    :: atomic { coming_lower != 255 || coming_upper != 255 -> arrive() }
    fi
}

/* An access by an entry there is; a fetch also by what the cache has. Without an entry it traps if a walk would. */
inline access(c) {
    if
    :: atomic { tlb[c] != NONE && posted[c] == 0 ->
            stale = done && tlb[c] == OLD; assert(!stale);
            posted[c] = tlb[c]
        }
    :: atomic { tlb[c] != NONE -> /* a fetch */
            if
            :: code[c] == NONE -> code[c] = tlb[c]
            :: else
            fi;
            old_code = done && code[c] == OLD; assert(!old_code)
        }
    :: atomic { tlb[c] == NONE && lower == NONE -> /* hyp/core/trap/abort.cpp, check_table */
            if
            :: !locked || variant == NOBODY_WAITS -> missing = 1; assert(!missing)
            :: else /* again */
            fi
        }
    :: tlb[c] == NONE && lower != NONE
    fi
}

proctype changer() {
    byte i, half;
    locked = 1;
    replace();
    atomic { done = 1; locked = 0 }
}

proctype user(byte c) {
    byte accesses;
    do
    :: something(c)
    :: accesses < 3 -> access(c); if :: done -> accesses++ :: else fi
    :: accesses == 3 && told[c] == 0 && told_cache[c] == 0 && posted[c] == 0 -> break
    od
}

init {
    byte c;
    d_step { c_code { variant = atoi(getenv("VARIANT")); }; skip };
    atomic {
        run changer();
        for (c : 0 .. CPUS - 1) { run user(c) }
    }
}
