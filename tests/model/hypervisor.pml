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

/* The view of `table`: each change of a CPU's view is one of table.
 * source: hyp/core/mm/guest_view.hpp enter */
inline load(c, table, keeps_tlb) {                            /* = if (&view == current_) return; */
    in(TLBI_BEFORE_VTTBR, write_TLBIALL(c); complete_local(c));
    write_VTTBR(c, table);                                    /* = port::write<reg::VTTBR>(view.vttbr()); */
    unless(NO_ISB_BEHIND_VTTBR, synchronize_context(c));      /* = port::synchronize_context(); */
    if
    :: variant != TLBI_BEFORE_VTTBR && variant != keeps_tlb ->
        write_TLBIALL(c)                                      /* = forget(); */
    :: else
    fi;
    unless(NO_DSB_BEHIND_TLBI, complete_local(c))             /* = current_ = &view; */
    /* The ERET synchronizes what follows: `exception` in guest.pml. */
}

/* What enter() has above, for the other places that want it.
 * source: hyp/core/mm/guest_view.hpp forget */
inline forget(c) {
    write_TLBIALL(c);                                         /* = port::write<reg::TLBIALL>(0); */
    complete_local(c)                                         /* = port::complete_local(); */
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

inline enter_shadow(c) {
    if
    :: TWO_VMIDS_IN_USE -> load_other_vmid(c, SHADOW)
    :: variant == OPEN_FOR_ALL -> d_step { opened_for_all = 1; everybody_walks() }
    :: else -> load(c, SHADOW, NO_TLBI_AT_ENTRY)
    fi
}

inline enter_normal(c) {
    if
    :: TWO_VMIDS_IN_USE -> load_other_vmid(c, NORMAL)
    :: variant == OPEN_FOR_ALL -> d_step { opened_for_all = 0; invalidate_for_all(0); everybody_walks() }
    :: else -> load(c, NORMAL, NO_TLBI_AT_EXIT)
    fi
}

/* Leaves `got`.
 * source: hyp/core/trace/lock.hpp try_acquire */
inline try_acquire(c, region) {
    turns = MAX_TURNS;
    do
    :: atomic {                           /* = while (!take(cpu)) { */
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

/* source: hyp/core/trace/lock.hpp release */
inline release(region) {                  /* = const std::uint32_t word = free(); */
                                          /* = port::order_memory(); */
    owner[region] = NOBODY                /* = port::store_shared(word_, word); */
}

/* Leaves `got`.
 * source: hyp/core/trace/region_lock.hpp take */
inline take(c, region) {
    try_acquire(c, region)                /* = if (!taken.lock.try_acquire(cpu, RegionLocks::max_turns, spins)) */
                                          /* = refused_ = &taken; */
                                          /* = return false; */
                                          /* = place = &taken; */
                                          /* = return true; */
}

/* In ascending order; what is held is given back where the next one cannot be had. Leaves `got`. Of one region: take().
 * source: hyp/core/trace/region_lock.cpp HeldLocks::acquire */
inline acquire(c, first, second) {        /* = check(!held(), "a step began while another one held locks"); */
                                          /* = for (Owner* const owner : owners) */
    take(c, first);     /* = if (held() ? add(*owner, cpu, spins) : take(*owner, first_, cpu, spins)) continue; */
    if
    :: got && second != first ->
        take(c, second);
        if
        :: !got && variant != GIVE_UP_AND_KEEP ->
            release(first)                /* = if (held()) release(); */
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

/* Whoever waited for the lock looks again at what is traced, and gives up if that has changed: carry_out's first
 * branch. Leaves `got`.
 * source: hyp/core/engine/access.cpp take_locks */
inline take_locks(c, first, second) {
                                                 /* = give_up: the machine ends, so its locks are another CPU's */
    acquire(c, first, second)                    /* = locks.acquire: for one owner or several */
                                                 /* = give_up */
}
#define DECIDED_ANEW(c) (got && decision[c] != marked && variant != SWITCHED_DECIDED_AT_TRAP)

/* source: hyp/core/machine/stepping.hpp step_in */
inline step_in(c) {                              /* = step.armed = true */
                                                 /* Interrupts are masked: nothing but the step runs, guest.pml */
                                                 /* = port::write<reg::HSTR> */
    d_step { low = 0; high = 0 };                /* = debug.arm */
    enter_shadow(c)                              /* = view.enter */
}

/* source: hyp/core/engine/record.hpp begin_access */
inline begin_access(c, p, q) {
    unless(SEQUENCE_BEFORE_LOCK, take_sequence_numbers(c, p, q)) /* = locks.next_sequence */
                                                 /* = ring.begin */
                                                 /* = publish_last */
}

/* source: hyp/core/engine/record.hpp begin_step */
inline begin_step(c, p, q) {
    begin_access(c, p, q);                       /* = begin_access: of a plain access */
                                                 /* = begin_access: of any other one */
    step_in(c)                                   /* = step_in */
                                                 /* = port::write<reg::HSTR> */
}

/* Leaves `got`: if not, nothing has happened.
 * source: hyp/core/engine/access.cpp make */
inline carry_out(c, p, q) {
    in(TWO_VMIDS_TTLB, !hold -> steps++);
    atomic { choose_regions(p, q); got = 1 };
    in(SEQUENCE_BEFORE_LOCK, take_sequence_numbers(c, p, q));
    if
    :: variant != NO_LOCK -> take_locks(c, low, high) /* data_abort() has done it */
    :: else
    fi;
    if
    :: DECIDED_ANEW(c) ->
        release(low);
        if :: high != low -> release(high) :: else fi;
        d_step { low = 0; high = 0; got = 0 }
    :: got && !DECIDED_ANEW(c) ->
        begin_step(c, p, q)                      /* = begin_step: of a plain access */
                                                 /* = begin_step: of any other one */
    :: else -> in(TWO_VMIDS_TTLB, steps--)
    fi
}

/* source: hyp/core/trace/ring_writer.hpp complete */
inline complete(c) {
    complete_system(c)                           /* = port::complete_system(); */
                                                 /* = port::synchronize_context(); */
                                                 /* = return port::read<reg::CNTPCT>(); */
}

/* source: hyp/core/machine/stepping.hpp leave_step */
inline leave_step(c) {
    enter_normal(c);                             /* = view.enter */
    if
    :: variant != NO_DSB_BEFORE_UNLOCK && variant != UNLOCK_BEFORE_CLOSE ->
        complete(c)                              /* = ring.complete */
    :: else
    fi                                           /* = debug.disarm */
                                                 /* = step.armed = false */
                                                 /* = port::write<reg::HSTR> */
}

/* end_step() of a plain access, as planned.
 * source: hyp/core/engine/reexecution.cpp finish_plain */
                                                 /* = ring.publish */
                                                 /* = ring.finish */
                                                 /* = locks.held: not by the baseline */
                                                 /* = locks.release */

/* planned: not by an exception of the guest's.
 * source: hyp/core/engine/reexecution.cpp DeviceOps::finish */
inline end_step(c, p, q, planned) {
    leave_step(c);                               /* = leave_step */
                                                 /* = publish */
                                                 /* = ring.finish */
                                                 /* = locks.held: not by the baseline */
    if
    :: variant != UNLOCK_BEFORE_CLOSE && (planned || variant != UNLOCK_ONLY_IF_PLANNED) ->
        release_all(c, p, q)                     /* = give_locks_back: they are released */
    :: else
    fi
}

inline finish(c, p, q, planned) {
    in(UNLOCK_BEFORE_CLOSE, release_all(c, p, q));
    end_step(c, p, q, planned);
    in(TWO_VMIDS_TTLB, steps--)
}

/* source: hyp/services/changing/live_tables.cpp forget_translations */
inline forget_translations(c) {                  /* = port::complete_all(); */
    if                                           /* = port::write<reg::TLBIALLNSNHIS>(0); */
    :: variant != SWITCHED_NO_TLBI && variant != SWITCHED_NO_DSB ->
        d_step { everybody_has_heard() }         /* = port::complete_all(); */
    :: else
    fi
}

/* source: hyp/services/changing/live_tables.cpp forget_on_all_cpus */
inline forget_on_all_cpus(c) {
    forget_translations(c)                       /* = forget_translations(); */
                                                 /* = port::write<reg::ICIALLUIS>(0); */
                                                 /* = port::complete_all(); */
                                                 /* = port::synchronize_context(); */
}

inline tell(on) { told = on }

/* Page 0 is to be traced from now on, or no longer. The order of record and tables is that of the source;
 * selection.cpp marks and writes the descriptors.
 * source: hyp/services/control/selection.cpp apply_selection */
inline apply_selection(c, on) {                  /* = for (Span& span : machine.map) */
                                                 /* = const bool traced = !stopped && span.selected(); */
                                                 /* = if (!span.changeable || span.traced() == traced) continue; */
    marked = on;                                 /* = integrity.store_sealed(span.tracing, span.tracing ^ Span::traced_bit); */
    d_step {
        opened_for_all = !on;                    /* = set_pages(machine, integrity, span); */
        everybody_walks()
    };
    forget_on_all_cpus(c)                        /* = forget_on_all_cpus(); */
                                                 /* = machine.locks.count_stores_everywhere(machine.regions.size()); */
}

/* One region, so one lock, which this CPU does not hold.
 * source: hyp/core/trace/region_lock.cpp HeldLocks::acquire_others */
inline acquire_others(c) {                       /* = all_ = &locks; */
                                                 /* = more_ = true; */
                                                 /* = for (; others_ < RegionLocks::page_owners + count; ++others_) */
                                                 /* = Owner& owner = locks.locks_[others_]; */
    try_acquire(c, 0)                            /* = if (!holds(owner) && !owner.lock.try_acquire(cpu, RegionLocks::max_turns, spins)) return false; */
                                                 /* = return true; */
}

/* A CPU in Hyp, no step armed: hyp/services/control/command.cpp change_in_quiet() and change(). */
inline change_in_quiet(c, on) {
    if
    :: variant != SWITCHED_NO_LOCK -> acquire_others(c)
    :: else -> got = 1
    fi;
    if
    :: got ->
        if
        :: told && variant != SWITCHED_RECORD_LAST -> tell(0); apply_selection(c, 0)
        :: told && variant == SWITCHED_RECORD_LAST -> apply_selection(c, 0); tell(0)
        :: !told && variant != SWITCHED_RECORD_FIRST -> apply_selection(c, 1); tell(1)
        :: !told && variant == SWITCHED_RECORD_FIRST -> tell(1); apply_selection(c, 1)
        fi;
        in(SWITCHED_NO_DSB, d_step { everybody_has_heard() });
        if
        :: variant != SWITCHED_NO_LOCK -> release(0)
        :: else
        fi
    :: else
    fi;
    got = 0
}

/* The other engine: Hyp accesses the address it has from the trap.
 * source: hyp/core/engine/access.cpp perform */
inline emulate(c, p) {
    got = 1;
    acquire(c, p, p);                            /* data_abort() has done it */
    if
    :: got ->
                                                 /* = begin_access: of a plain access */
                                                 /* = begin_access: of any other one */
        take_sequence_number(c, p);              /* = locks.next_sequence: where there is no record */
        atomic {
            stale = decoded[c] == REUSED; assert(!stale);
            arrive(c, p)                         /* = access_bus */
        };                                       /* = ring.complete */
                                                 /* = ring.publish */
                                                 /* = ring.finish */
                                                 /* = locks.release: of a plain access */
        release_all(c, p, p)                     /* = give_locks_back: they are released */
    :: else
    fi
}
