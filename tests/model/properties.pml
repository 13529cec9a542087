/* What must hold. Each assertion names its property, so that the runner sees which one failed.
 *
 *   unrecorded  no access reaches a traced page but that of the instruction that its CPU is stepping
 *   stale       nobody uses a translation of a frame that the guest, after TLBI and DSB, has reused
 *   refault     the stepped instruction does not trap: a step comes to its end
 *   misnamed    a record has the address that its access went to (looked at in LIMIT_REMAPPED only)
 *   superfluous no access is recorded while a record says that the page is not traced
 *   order       accesses arrive at a device in the order of their sequence numbers
 *   deadlock    some CPU can always go on (Spin: invalid end state)
 *   waiting     when everybody has a bounded number of things to do, everybody is done (ltl, weak fairness)
 */
bit stale, refault, unrecorded, superfluous, misnamed, order; /* set only where an assertion is about to fail */
bit stepping[CPUS];  /* the CPU executes the instruction whose record is being made */
byte decoded[CPUS]; /* 1 + page of the address that Hyp has from the trap; REUSED: its frame is another's now.
                     * 0 where nobody looks at it. */
#define REUSED 128
bit decision[CPUS] = 1; /* the access is to be recorded: what the CPU has found at its trap */
bit marked;         /* page 0 is to be traced: what a CPU that traps looks at */
bit told;           /* page 0 is traced: what the last record says. Without SWITCHED both are always set. */
byte done;          /* CPUs that have come to their end */

#define IS_TOLD(p) (told || (p) != 0)

/* Sequence numbers without numbers: who has taken one, who has since taken a later one. */
#define TICKET(c, p) ticket[(c) * PAGES + (p)]
#define LATER(c, p) later[(c) * PAGES + (p)]
bit ticket[CPUS * PAGES];
byte later[CPUS * PAGES]; /* CPUs whose number is later; bit 7: an access with a later number has arrived */
#define OVERTAKEN 128

inline take_sequence_number(c, p) {
    d_step {
        store_arrives(c);
        for (i : 0 .. CPUS - 1) {
            if
            :: i != c && TICKET(i, p) -> LATER(i, p) = LATER(i, p) | (1 << c)
            :: else
            fi
        }
        TICKET(c, p) = 1;
        LATER(c, p) = 0;
        i = 0
    }
}

inline arrive(c, p) {
    order = (LATER(c, p) & OVERTAKEN) != 0;
    assert(!order);
    for (i : 0 .. CPUS - 1) {
        if
        :: i != c && TICKET(i, p) && (LATER(i, p) & (1 << c)) -> LATER(i, p) = LATER(i, p) | OVERTAKEN
        :: else
        fi
    }
    i = 0
}

inline drop_sequence_number(c, p) {
    d_step {
        if
        :: posted[c] != p + 1 -> TICKET(c, p) = 0; LATER(c, p) = 0
        :: else /* on its way without a lock: a variant */
        fi
    }
}

/* A load arrives, or a store arrives now or later. */
inline reach_device(c, p) {
    unrecorded = IS_TOLD(p) && !(stepping[c] && decision[c]);
    assert(!unrecorded);
    superfluous = !IS_TOLD(p) && stepping[c] && decision[c];
    assert(!superfluous);
    misnamed = variant == LIMIT_REMAPPED && decoded[c] == REUSED;
    assert(!misnamed);
    store_arrives(c);
    if
    :: arrive(c, p)
    :: posted[c] = p + 1
    fi;
    i = 0
}

ltl waiting { <> (done == CPUS) }
