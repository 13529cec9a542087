/* The worst that the architecture lets a CPU's memory system do.
 *
 * A TLB keeps what it has until that is invalidated, and walks the tables at any time, from the VTTBR that is
 * in effect (ARM ARM B3.9). For a page it can have at the same time
 *
 *   traps    a walk that ends in the normal table's invalid descriptor of a traced page. A descriptor that
 *            faults is not cached, but those on the way to it are.
 *   reaches  a translation of a page that the guest has mapped
 *   stale    the same, after the guest has given the frame to somebody else
 *
 * An access may use any of them, or none and walk. So more entries only allow more, and "may walk at any
 * time" is modelled as "has walked": each CPU always has all it can have. Likewise "at any time until": a
 * VTTBR write takes effect until the ISB, an exception or its return (B3.15.5), so both tables are walked;
 * an invalidation takes place until the DSB (B3.10.1), so old entries stay until then, and new ones are kept from
 * the TLBI on; a store arrives at its device now, or only when somebody waits for it.
 */
#define TRAPS 1
#define REACHES 2
#define STALE 4
#define FAULTED 0 /* no entry: the guest's stage 1 does not map the page */

#define NORMAL 0
#define SHADOW 1

#define TRACED(p) ((traced_pages >> (p)) & 1)
#define TWO_VMIDS_IN_USE (variant >= TWO_VMIDS && variant <= TWO_VMIDS_TTLB)
/* VMID 0 is the guest's, 1 that of the shadow tables where they have one. */
#define VMID(table) (TWO_VMIDS_IN_USE && (table) == SHADOW)
#define TLB(c, p, vmid) tlb[((c) * PAGES + (p)) * 2 + (vmid)]
#define FRESH(c, p) fresh[(c) * PAGES + (p)]

bit written[CPUS];         /* the table that VTTBR names */
bit effective[CPUS];       /* the one that was in effect at the last ISB */
byte tlb[CPUS * PAGES * 2];
byte fresh[CPUS * PAGES];  /* what has been walked since a TLBI that is not waited for */
byte invalidating[CPUS];   /* pages of such a TLBI */
bit mapped[PAGES];         /* by the guest's own stage 1 */
bit opened_for_all;        /* the normal table maps page 0: only OPEN_FOR_ALL and SWITCHED do so */
byte posted[CPUS];         /* 1 + page of a store that has not arrived */

/* What a walk of page p finds in a table now. */
#define WALK(table, p) (!mapped[p] -> FAULTED : \
    (TRACED(p) && (table) == NORMAL && !opened_for_all -> TRAPS : REACHES))

inline walk(c) {
    for (i : 0 .. PAGES - 1) {
        TLB(c, i, VMID(effective[c])) = TLB(c, i, VMID(effective[c])) | WALK(effective[c], i);
        TLB(c, i, VMID(written[c])) = TLB(c, i, VMID(written[c])) | WALK(written[c], i);
        if
        :: invalidating[c] -> FRESH(c, i) = FRESH(c, i) | WALK(effective[c], i) | WALK(written[c], i)
        :: else
        fi
    }
    i = 0
}

inline everybody_walks() {
    for (k : 0 .. CPUS - 1) { walk(k) }
    k = 0
}

inline invalidate(c, pages) {
    invalidating[c] = pages;
    for (i : 0 .. PAGES - 1) { FRESH(c, i) = FAULTED }
    walk(c)
}

inline wait_for_invalidation(c) {
    for (i : 0 .. PAGES - 1) {
        if
        :: invalidating[c] & (1 << i) -> TLB(c, i, VMID(effective[c])) = FRESH(c, i)
        :: else
        fi;
        FRESH(c, i) = FAULTED
    }
    invalidating[c] = 0;
    i = 0
}

/* The guest's broadcast TLBI of page p, on its own VMID, and DSB. The accesses that others have made with what
 * is invalidated are done then, too (B3.10.1). */
inline invalidate_for_all(p) {
    for (k : 0 .. CPUS - 1) {
        store_arrives(k);
        TLB(k, p, 0) = FAULTED;
        FRESH(k, p) = FAULTED;
        if
        :: variant == TWO_VMIDS_TTLB -> TLB(k, p, 1) = FAULTED
        :: else
        fi
    }
    k = 0
}

/* Hyp's broadcast TLBI of everything, done: nobody has what the tables do not have now, and the accesses made
 * with it have arrived (B3.10). */
inline everybody_has_heard() {
    for (k : 0 .. CPUS - 1) {
        for (i : 0 .. PAGES - 1) {
            TLB(k, i, 0) = FAULTED;
            FRESH(k, i) = FAULTED
        }
        i = 0;
        unrecorded = posted[k] == 1 && told && !stepping[k];
        assert(!unrecorded);
        store_arrives(k);
        walk(k)
    }
    k = 0
}

inline reuse_frame(p) {
    for (k : 0 .. CPUS * 2 - 1) {
        if
        :: TLB(k / 2, p, k % 2) & REACHES -> TLB(k / 2, p, k % 2) = (TLB(k / 2, p, k % 2) & ~REACHES) | STALE
        :: else
        fi
    }
    for (k : 0 .. CPUS - 1) {
        if
        :: decoded[k] == p + 1 -> decoded[k] = REUSED
        :: else
        fi
    }
    k = 0
}

inline store_arrives(c) {
    if
    :: posted[c] -> arrive(c, posted[c] - 1); posted[c] = 0
    :: else
    fi
}

/* An access of CPU c to page p by any entry there is, or by a walk, as if there were none. Leaves `result`:
 * FAULTED, the guest's own abort; TRAPS, to Hyp; REACHES, it is done. */
inline access(c, p) {
    atomic {
        if
        :: result = WALK(effective[c], p)
        :: TLB(c, p, VMID(effective[c])) & TRAPS -> result = TRAPS
        :: TLB(c, p, VMID(effective[c])) & REACHES -> result = REACHES
        :: TLB(c, p, VMID(effective[c])) & STALE -> stale = 1; assert(!stale)
        fi;
        if
        :: result == REACHES && TRACED(p) -> reach_device(c, p)
        :: else
        fi
    }
}
