/* The protocol, statement by statement. A comment `= text` is the statement of the source for which one
 * here stands; source.sh compares them with the function named before, so that neither changes alone.
 *
 * unless(v, s): statement s, but not in variant v. in(v, s): only there. Other CPUs do nothing within s.
 */
#define unless(v, s) atomic { if :: variant != v -> s :: else fi }
#define in(v, s) atomic { if :: variant == v -> s :: else fi }

#define NOBODY 255
#define MAX_TURNS 1 /* in the source 2,000: one shows both, getting the lock while waiting and giving up */

byte owner[PAGES] = NOBODY; /* of the region lock: each traced page is a region */
byte steps;                 /* in flight: TWO_VMIDS_TTLB */
bit hold;                   /* a guest's TLBI is being carried out: likewise */

inline write_VTTBR(c, table) { d_step { written[c] = table; walk(c) } }
inline synchronize_context(c) { effective[c] = written[c] }
inline write_TLBIALL(c) {
    d_step { invalidate(c, (variant == TLBI_OF_ONE_PAGE -> 1 << page_of_step : (1 << PAGES) - 1)) }
}
inline complete_local(c) { d_step { wait_for_invalidation(c) } }
inline complete_system(c) { d_step { store_arrives(c) } }

/* source: hyp/mm/guest_view.cpp GuestView::load */
inline load(c, table, keeps_tlb) {
    in(TLBI_BEFORE_VTTBR, write_TLBIALL(c); complete_local(c));
    write_VTTBR(c, table);                                    /* = port::write<reg::VTTBR>(value); */
    unless(NO_ISB_BEHIND_VTTBR, synchronize_context(c));      /* = port::synchronize_context(); */
    if
    :: variant != TLBI_BEFORE_VTTBR && variant != keeps_tlb ->
        write_TLBIALL(c)                                      /* = port::write<reg::TLBIALL>(0); */
    :: else
    fi;
    unless(NO_DSB_BEHIND_TLBI, complete_local(c))             /* = port::complete_local(); */
    /* The ERET synchronizes what follows: `exception` in guest.pml. */
}

/* Where the shadow tables have a VMID of their own, TLBIALL acts on it only while it is the current one. */
inline load_other_vmid(c, table) {
    if
    :: table == NORMAL &&
       (variant == TWO_VMIDS_TLBI_AT_EXIT || variant == TWO_VMIDS_TLBI_AT_BOTH || variant == TWO_VMIDS_TTLB) ->
        write_TLBIALL(c); complete_local(c)
    :: else
    fi;
    write_VTTBR(c, table);
    synchronize_context(c);
    if
    :: table == SHADOW &&
       (variant == TWO_VMIDS_TLBI_AT_ENTRY || variant == TWO_VMIDS_TLBI_AT_BOTH || variant == TWO_VMIDS_TTLB) ->
        write_TLBIALL(c); complete_local(c)
    :: else
    fi
}

/* source: hyp/mm/guest_view.cpp GuestView::open_shadow */
inline open_shadow(c) {
    if
    :: TWO_VMIDS_IN_USE -> load_other_vmid(c, SHADOW)
    :: variant == OPEN_FOR_ALL -> d_step { opened_for_all = 1; everybody_walks() }
    :: else -> load(c, SHADOW, NO_TLBI_AT_ENTRY) /* = load(shadow_); */
    fi                                           /* = shadow_open_ = true; */
}

/* source: hyp/mm/guest_view.cpp GuestView::close_shadow */
inline close_shadow(c) {
    if
    :: TWO_VMIDS_IN_USE -> load_other_vmid(c, NORMAL)
    :: variant == OPEN_FOR_ALL -> d_step { opened_for_all = 0; invalidate_for_all(0); everybody_walks() }
    :: else -> load(c, NORMAL, NO_TLBI_AT_EXIT)  /* = load(normal_); */
    fi                                           /* = shadow_open_ = false; */
}

/* Leaves `got`.
 * source: hyp/trace/lock.hpp try_acquire */
inline try_acquire(c, region) {
    turns = MAX_TURNS;
    do
    :: atomic {                           /* = while (!port::exchange_if(owner_, no_owner, cpu)) { */
        owner[region] != NOBODY && variant != LOCK_ORDER_AND_NO_BOUND ->
        if
        :: turns == 0 -> got = 0; break   /* = if (turns-- == 0) return false; */
        :: else -> turns--
        fi                                /* = ++spins; */
    }                                     /* = port::relax(); } */
                                          /* = port::order_memory(); */
    :: atomic {
        owner[region] == NOBODY -> owner[region] = c; got = 1; break
    }                                     /* = return true; */
    od
}

/* source: hyp/trace/lock.hpp release */
inline release(region) {                  /* = port::order_memory(); */
    owner[region] = NOBODY                /* = port::store_shared(owner_, no_owner); */
}

/* In ascending order; what is held is given back where the next one cannot be had. Leaves `got`.
 * source: hyp/trace/region_lock.cpp HeldLocks::acquire */
inline acquire(c, first, second) {        /* = check(!held(), "a step began while another held its locks"); */
                                          /* = locks_ = &locks; */
                                          /* = regions_ = regions; */
                                          /* = for (const std::uint16_t& region : regions_) */
    try_acquire(c, first);                /* = if (locks.of(region).lock.try_acquire(cpu, max_turns, spins)) continue; */
    if
    :: got && second != first ->
        try_acquire(c, second);
        if
        :: !got && variant != GIVE_UP_AND_KEEP ->
            release(first)                /* = release_until(&region); */
        :: else                           /* = return false; */
        fi
    :: else                               /* = return true; */
    fi
}

inline release_all(c, p, q) {
    if
    :: TRACED(p) -> drop_sequence_number(c, p); if :: owner[p] == c -> release(p) :: else fi
    :: else
    fi;
    if
    :: TRACED(q) && q != p -> drop_sequence_number(c, q); if :: owner[q] == c -> release(q) :: else fi
    :: else
    fi
}

inline take_sequence_numbers(c, p, q) {
    if :: TRACED(p) -> take_sequence_number(c, p) :: else fi;
    if :: TRACED(q) && q != p -> take_sequence_number(c, q) :: else fi
}

/* The regions of pages p and q, in the lock order. */
inline choose_regions(p, q) {
    if
    :: !TRACED(p) -> low = q; high = q
    :: !TRACED(q) -> low = p; high = p
    :: TRACED(p) && TRACED(q) && (p < q || variant == LOCK_ORDER_AND_NO_BOUND) -> low = p; high = q
    :: else -> low = q; high = p
    fi
}

/* source: hyp/engine/reexecution.cpp begin_step */
inline begin_step(c, p, q) {
    unless(SEQUENCE_BEFORE_LOCK, take_sequence_numbers(c, p, q)) /* = locks.next_sequence */
                                                 /* = ring.begin */
                                                 /* = publish_if_last */
                                                 /* = arm_breakpoints */
                                                 /* = mask_interrupts: nothing but the step runs, guest.pml */
                                                 /* = step.armed = true */
}

/* Leaves `got`: if not, nothing has happened.
 * source: hyp/engine/shadow.cpp ShadowEngine::carry_out */
inline carry_out(c, p, q) {
    in(TWO_VMIDS_TTLB, !hold -> steps++);
    atomic { choose_regions(p, q); got = 1 };
    in(SEQUENCE_BEFORE_LOCK, take_sequence_numbers(c, p, q));
    if
    :: variant != NO_LOCK -> acquire(c, low, high) /* = begin_access */
    :: else
    fi;
    if
    :: got ->
        begin_step(c, p, q);                     /* = begin_step */
        d_step { low = 0; high = 0 };
        open_shadow(c)                           /* = view.open_shadow */
    :: else -> in(TWO_VMIDS_TTLB, steps--)
    fi
}

/* source: hyp/trace/ring_writer.cpp RingWriter::complete */
inline complete(c) {
    complete_system(c)                           /* = port::complete_system(); */
                                                 /* = port::synchronize_context(); */
                                                 /* = return port::read<reg::CNTPCT>(); */
}

/* source: hyp/engine/reexecution.cpp end_step */
inline end_step(c) {                             /* = step.armed = false */
    if
    :: variant != NO_DSB_BEFORE_UNLOCK && variant != UNLOCK_BEFORE_CLOSE ->
        complete(c)                              /* = ring.complete */
    :: else
    fi
                                                 /* = disarm_breakpoints */
                                                 /* = unmask_interrupts_of_exception */
                                                 /* = unmask_interrupts */
                                                 /* = publish */
                                                 /* = ring.finish */
}

/* planned: not by an exception of the guest's.
 * source: hyp/engine/shadow.cpp ShadowEngine::finish */
inline finish(c, p, q, planned) {
    in(UNLOCK_BEFORE_CLOSE, release_all(c, p, q));
    close_shadow(c);                             /* = view.close_shadow */
    end_step(c);                                 /* = end_step */
    if
    :: variant != UNLOCK_BEFORE_CLOSE && (planned || variant != UNLOCK_ONLY_IF_PLANNED) ->
        release_all(c, p, q)                     /* = locks.release */
    :: else
    fi;
    in(TWO_VMIDS_TTLB, steps--)
}

/* The other engine: Hyp accesses the address it has from the trap.
 * source: hyp/engine/emulation.cpp EmulationEngine::carry_out */
inline emulate(c, p) {
    got = 1;
    acquire(c, p, p);                            /* = begin_access */
    if
    :: got ->
        take_sequence_number(c, p);              /* = locks.next_sequence */
                                                 /* = ring.begin */
                                                 /* = publish_if_last */
        atomic {
            stale = decoded[c] == REUSED; assert(!stale);
            arrive(c, p)                         /* = perform */
        };                                       /* = ring.complete */
                                                 /* = ring.publish */
                                                 /* = ring.finish */
        release_all(c, p, p)                     /* = locks.release */
    :: else
    fi
}
