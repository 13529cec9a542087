/* Guests that do anything: on each CPU instructions with one or two accesses (two words of LDM; the
 * instruction's own page and its data's), unmapping and reuse of pages, exceptions.
 */

/* An exception's entry and its return synchronize the context (ARM ARM B3.15.5, B1.8). */
#define exception(c) synchronize_context(c)

/* The instruction again, on the shadow table. Leaves in `planned` whether it came to its end. */
inline step(c, p, q) {
    stepping[c] = 1;
    access(c, p);
    atomic { refault = result == TRAPS; assert(!refault) };
    if
    :: result == REACHES ->
        access(c, q);
        atomic { refault = result == TRAPS; assert(!refault) }
    :: else
    fi;
    planned = (result == REACHES);
    stepping[c] = 0
}

/* What does not belong to the instruction, and runs if nothing keeps it from it: an interrupt's handler, or an
 * abort's. It accesses what it likes. */
inline handler(c) {
    access(c, 0)
}

/* What nobody looks at is not kept: it would only make the search longer. */
#define LOOKS_AT_PAGE (variant == TLBI_OF_ONE_PAGE || variant == LIMIT_EMULATION || variant == LIMIT_REMAPPED)

inline trapped(c, p, q) {
    atomic { exception(c); decoded[c] = (LOOKS_AT_PAGE -> page_of_step + 1 : 0); decision[c] = marked };
    if
    :: variant == LIMIT_EMULATION -> emulate(c, page_of_step)
    :: else -> carry_out(c, p, q)
    fi;
    exception(c);
    if
    :: got && variant != LIMIT_EMULATION ->
        if
        :: variant == INTERRUPTS_NOT_MASKED -> handler(c)
        :: true
        fi;
        step(c, p, q);
        if
        :: variant == NO_VECTOR_BREAKPOINTS && !planned -> handler(c)
        :: else
        fi;
        exception(c);
        finish(c, p, q, planned);
        exception(c)
    :: else /* emulated, or again: the guest has its interrupts, and then the instruction once more */
    fi;
    decoded[c] = 0
}

/* One instruction: an access to p, then one to q. Traps are carried out; a locked-out one is tried again. */
inline instruction(c, p, q) {
    do
    :: atomic { access(c, p); page_of_step = (LOOKS_AT_PAGE -> p : 0) };
        if
        :: result == REACHES -> atomic { access(c, q); page_of_step = (LOOKS_AT_PAGE -> q : 0) }
        :: else
        fi;
        if
        :: result == TRAPS -> trapped(c, p, q); if :: got -> break :: else fi
        :: else -> break
        fi
    od
}

/* The guest unmaps a page, waits for its TLBI, gives the frame away, and maps another one. */
inline unmap(c, p) {
    mapped[p] = 0; /* and DSB */
    in(TWO_VMIDS_TTLB, steps == 0 && !hold -> hold = 1);
    d_step { invalidate_for_all(p) }; /* TLBIMVAIS, DSB */
    in(TWO_VMIDS_TTLB, hold = 0);
    d_step { reuse_frame(p) };
    d_step { mapped[p] = 1; everybody_walks() }
}

bit unmapping; /* the guest's own lock */

proctype cpu(byte c) {
    byte i, k, p, q, page_of_step, result, turns, low, high, operations;
    bit got, planned;
    do
    :: atomic { !budget || operations < budget ->
            if :: budget -> operations++ :: else fi;
            if :: p = 0 :: p = 1 fi
        };
        if
        :: atomic { if :: q = 0 :: q = 1 fi }; instruction(c, p, q)
        :: variant >= SWITCHED -> exception(c); change_in_quiet(c, !told); exception(c)
        :: atomic { !unmapping -> unmapping = 1 }; unmap(c, p); unmapping = 0
        fi;
        atomic { p = 0; q = 0; page_of_step = 0; result = 0; turns = 0; got = 0; planned = 0; decision[c] = 1 }
    :: budget -> break
    od;
    done++
}
