/* The order of trace/ring_writer.hpp, and of entry/fast_path.S, against a reader that merges the rings
 * (stream/ring_merge.cpp). Two CPUs access devices, under their locks, and tell of each access in their
 * ring; the reader must get each record, whole, in the order of time, and of one device in the order in which it saw
 * the accesses. run.sh runs it.
 *
 * A CPU's stores wait in a list. One may arrive before an earlier one, unless a barrier or a store to the same place is
 * between them. The reader's loads are done one by one, in its own order: its barriers say that they are.
 *
 * A comment `= text` is a statement of the source; source.sh compares them.
 */
#define CPUS 2
#define SLOTS 2 /* of a ring */

#include "ring_variants.pml"

hidden byte variant;
hidden byte fast_cpus; /* bit n: CPU n is on the fast path */
hidden byte budget; /* accesses of CPU 0; CPU 1 makes at most two, and one beside three */

#define NOBODY 255
#define UNKNOWN 255

/* The clock ticks at any moment, but an access takes less than PATIENCE ticks (RingMerge::patience_). */
#define PATIENCE 3
#define LAST_TICK 4
byte clock = 1;
byte began[CPUS] = UNKNOWN; /* time of the access in flight, until its mark has gone */

/* What is visible to all. Places of a CPU: */
#define MARK 0
#define MARK_TIME 1
#define HEAD 2
#define LOCK 3
#define COMMIT(s) (4 + (s))
#define RECORD(s) (4 + SLOTS + (s)) /* the access's time, and its number */
#define PLACES (4 + 2 * SLOTS)
#define BARRIER PLACES
#define MARK_WITH_HEAD (PLACES + 1) /* the mark, by the store that has stored the head: together, or behind it */
#define AT(c, place) memory[(c) * PLACES + (place)]
byte memory[CPUS * PLACES];

/* Values of MARK */
#define NONE 0
#define BEGINNING 1
#define BEGUN 2
#define IN_SLOT(s) (3 + (s)) /* abi::slot_mark() */

/* Stores of a CPU that have not arrived: places, or barriers between them. */
#define WAITING 18 /* enough: otherwise an index would be out of bounds */
typedef Stores {
    byte place[WAITING];
    byte value[WAITING];
    byte count
}
Stores stores[CPUS];

byte owner[CPUS] = NOBODY; /* of the lock of a device */
byte numbers[CPUS];      /* accesses that a device has seen */
byte tail[CPUS];         /* RingHeader::readers: read up to here */
byte second_tail;        /* ... by the second reader, of CPU 0's ring */
byte truth[CPUS * 8];    /* the record of each position */
byte told;               /* all that will be */
byte done;               /* CPUs that have come to their end */

/* broken: a record is not what its CPU has told at its position. unordered: an earlier access, by time or by the
 * order of its device, comes later, or none does. untrue: what a black box says was in flight was not. */
bit broken, unordered, untrue;

#define MADE_OF(time, number) ((time) * 16 + (number))
#define TIME_OF(record) ((record) / 16)
#define NUMBER_OF(record) ((record) % 16)
#define COMMIT_WORD(position) ((position) + 1 + 16) /* 16: the boot's number; an earlier boot has left others */

inline add(c, where, what) {
    stores[c].place[stores[c].count] = where;
    stores[c].value[stores[c].count] = what;
    stores[c].count++
}
/* DMB */
inline order_memory(c) {
    if
    :: stores[c].count > 0 && stores[c].place[stores[c].count - 1] != BARRIER -> add(c, BARRIER, 0)
    :: else
    fi
}
/* DSB */
inline complete(c) { stores[c].count == 0 }

inline remove(c, at) {
    for (k : at .. WAITING - 2) {
        stores[c].place[k] = stores[c].place[k + 1];
        stores[c].value[k] = stores[c].value[k + 1]
    }
    stores[c].place[WAITING - 1] = 0;
    stores[c].value[WAITING - 1] = 0;
    stores[c].count--;
    k = 0
}

/* Store `at` arrives, and a barrier that is first then goes. */
inline arrive(c, at) {
    d_step {
        if
        :: stores[c].place[at] == LOCK -> owner[stores[c].value[at]] = NOBODY
        :: stores[c].place[at] == MARK_WITH_HEAD -> AT(c, MARK) = NONE; began[c] = UNKNOWN
        :: else -> AT(c, stores[c].place[at]) = stores[c].value[at]
        fi;
        if
        :: stores[c].place[at] == MARK && stores[c].value[at] == NONE -> began[c] = UNKNOWN
        :: else
        fi;
        remove(c, at);
        if
        :: stores[c].count > 0 && stores[c].place[0] == BARRIER -> remove(c, 0)
        :: else
        fi
    }
}

#define IS_MARK(place) ((place) == MARK || (place) == MARK_WITH_HEAD)
#define IN_ORDER(one, other) ((one) == (other) || IS_MARK(one) && IS_MARK(other) || \
    (one) == HEAD && (other) == MARK_WITH_HEAD && variant != MARK_BEFORE_HEAD)

/* Leaves in `free` whether store `at` may arrive: no barrier and no store to its place is before it. */
inline may_arrive(c, at) {
    free = at < stores[c].count && stores[c].place[at] != BARRIER;
    for (j : 0 .. at) {
        if
        :: j < at && (stores[c].place[j] == BARRIER || IN_ORDER(stores[c].place[j], stores[c].place[at])) -> free = 0
        :: else
        fi
    }
    j = 0
}

/* More than three stores between two barriers arrive in the order of the first three. */
proctype store_buffer(byte c) {
    byte j, k;
    bit free;
end:
    do
    :: atomic { stores[c].count > 0 -> arrive(c, 0) }
    :: atomic { stores[c].count > 1 -> may_arrive(c, 1); if :: free -> arrive(c, 1) :: else fi; free = 0 }
    :: atomic { stores[c].count > 2 -> may_arrive(c, 2); if :: free -> arrive(c, 2) :: else fi; free = 0 }
    od
}

#define unless(v, s) if :: variant != v -> s :: else fi

/* What a CPU does at once here only adds to its list. begin() of hyp/core/trace/ring_writer.hpp, without PC and
 * address. */
inline begin(c) {
    d_step {
        clear_commit(c);
        unless(NO_BEGINNING, add(c, MARK, BEGINNING))
    };
    unless(NO_DSB_BEHIND_MARK, complete(c));
    d_step {
        time = clock;
        began[c] = clock;
        if
        :: fast ->
            add(c, RECORD(position % SLOTS), MADE_OF(time, 0));
            unless(NO_DMB_BEFORE_BEGUN, order_memory(c));
            add(c, MARK, IN_SLOT(position % SLOTS))
        :: else ->
            add(c, MARK_TIME, time);
            unless(NO_DMB_BEFORE_BEGUN, order_memory(c));
            add(c, MARK, BEGUN)
        fi
    }
}

/* Tells of the access `number` at the next position. */
inline publish(c, number) {
    slot = position % SLOTS;
    add(c, RECORD(slot), MADE_OF(time, number));
    truth[c * 8 + position] = MADE_OF(time, number);
    unless(NO_DMB_BEFORE_COMMIT, order_memory(c));
    add(c, COMMIT(slot), COMMIT_WORD(position));
    unless(NO_DMB_BEFORE_COMMIT, order_memory(c));
    position++;
    add(c, HEAD, position);
    slot = 0
}

inline clear_commit(c) {
    unless(OLD_COMMIT_STAYS, add(c, COMMIT(position % SLOTS), 0))
}

#define FLIGHT (variant >= OVERWRITES && variant <= TIE_OF_OVERWRITTEN)
#define DEVICE(c) (variant <= ONE_DEVICE_HERE -> 0 : (c))
#define ALONE (variant >= TWO_READERS)
#define SECOND_HAS_ROOM(n) (variant != TWO_READERS || position + (n) - second_tail <= SLOTS)
#define HAS_ROOM(c, n) (FLIGHT || position + (n) - tail[c] <= SLOTS && SECOND_HAS_ROOM(n))

inline finish(c) {
    unless(NO_DMB_BEFORE_NONE, order_memory(c));
    add(c, MARK, NONE);
    add(c, LOCK, DEVICE(c)) /* the slow path has a barrier before this */
}

/* What the fast path does instead. */
inline finish_with_head(c) {
    add(c, MARK_WITH_HEAD, NONE);
    add(c, LOCK, DEVICE(c)) /* without a barrier */
}

proctype writer(byte c) {
    byte time, position, slot, left;
    bit fast = fast_cpus >> c & 1;
    left = (c == 0 -> budget : (ALONE -> 0 : (budget > 2 -> 1 : budget)));
    do
    :: left == 0 -> break
    :: left > 0 ->
        atomic { owner[DEVICE(c)] == NOBODY && HAS_ROOM(c, 1) -> owner[DEVICE(c)] = c };
        begin(c);
        complete(c); /* the access is done */
        if
        :: atomic { fast -> numbers[DEVICE(c)]++; publish(c, numbers[DEVICE(c)]); finish_with_head(c) }
        :: atomic { !fast -> numbers[DEVICE(c)]++; publish(c, numbers[DEVICE(c)]); finish(c) }
        :: atomic { !fast && variant == TWO_RECORDS && HAS_ROOM(c, 2) -> /* an LDM: two accesses, one mark */
            numbers[DEVICE(c)] = numbers[DEVICE(c)] + 2;
            publish(c, numbers[DEVICE(c)] - 1);
            clear_commit(c);
            order_memory(c);
            publish(c, numbers[DEVICE(c)]);
            finish(c) }
        :: atomic { !fast && variant == ABANDONS -> /* the region is not traced any more: nothing is told */
            add(c, RECORD(position % SLOTS), MADE_OF(time, 0));
            finish(c) }
        fi;
        atomic { time = 0; left-- }
    od;
    atomic { stores[c].count == 0 -> told = told + position; done++ }
}

#define OLD_ENOUGH(c) (began[c] == UNKNOWN || clock + 1 - began[c] < PATIENCE)

proctype ticks() {
end:
    do
    :: atomic { clock < LAST_TICK && OLD_ENOUGH(0) && OLD_ENOUGH(1) -> clock++ }
    :: atomic { done == CPUS && clock == LAST_TICK -> clock++ }
    od
}

byte read[CPUS];             /* RingMerge::Ring::tail */
bit known[CPUS];             /* ... the time is that of the next record; else no later record is earlier */
byte at_time[CPUS];          /* ... Ring::time */
byte last_number[CPUS];      /* of the last record of a device */
byte last_time;              /* of the last record */
byte received;

/* hyp/services/stream/ring_merge.cpp, earliest_to_come() and look(). */
inline look(c) {
    if
    :: variant == CLOCK_BEHIND_MARK -> mark = AT(c, MARK); now = clock
    :: variant == HEAD_BEFORE_MARK -> atomic { now = clock; head = AT(c, HEAD) }; mark = AT(c, MARK)
    :: else -> now = clock; mark = AT(c, MARK)
    fi;
    if
    :: atomic { mark == NONE -> bound = now }
    :: atomic { mark == BEGUN -> bound = AT(c, MARK_TIME); if :: now - bound >= PATIENCE -> bound = now :: else fi }
    :: atomic { mark == BEGINNING -> bound = at_time[c] }
    :: atomic { mark >= IN_SLOT(0) ->
        bound = TIME_OF(AT(c, RECORD(mark - IN_SLOT(0))));
        if :: now - bound >= PATIENCE -> bound = now :: else fi }
    fi;
    atomic {
        if :: variant != HEAD_BEFORE_MARK -> head = AT(c, HEAD) :: else fi;
        if
        :: FLIGHT && head - read[c] >= SLOTS -> read[c] = head - SLOTS / 2 /* skip_overwritten() */
        :: else
        fi;
        if
        :: read[c] >= head -> at_time[c] = bound
        :: else ->
            bound = AT(c, RECORD(read[c] % SLOTS));
            if
            :: FLIGHT && AT(c, COMMIT(read[c] % SLOTS)) != COMMIT_WORD(read[c]) /* overwritten() */
            :: else -> at_time[c] = TIME_OF(bound); known[c] = 1
            fi
        fi;
        now = 0; mark = 0; bound = 0; head = 0
    }
}

/* take(): reads the record, and gives the slot back. */
inline take(c) {
    slot = read[c] % SLOTS;
    if :: variant == TAIL_BEFORE_RECORD -> tail[c] = read[c] + 1 :: else fi;
    commit = AT(c, COMMIT(slot));
    record = AT(c, RECORD(slot));
    atomic {
        if
        :: !FLIGHT || commit == COMMIT_WORD(read[c]) &&
                      (variant == NO_SECOND_LOOK || AT(c, COMMIT(slot)) == commit) ->
            broken = record != truth[c * 8 + read[c]];
            assert(!broken);
            unordered = TIME_OF(record) < last_time || NUMBER_OF(record) <= last_number[DEVICE(c)] ||
                        !FLIGHT && NUMBER_OF(record) != last_number[DEVICE(c)] + 1;
            assert(!unordered);
            last_time = TIME_OF(record);
            last_number[DEVICE(c)] = NUMBER_OF(record)
        :: else
        fi;
        read[c]++;
        received++;
        tail[c] = read[c];
        known[c] = 0;
        slot = 0; commit = 0; record = 0
    }
}

/* At equal times the order of the region's lock decides (RingMerge::before). A record that has been overwritten since
 * its ring was looked at says nothing about that: it is first, and then is not taken. */
#define NEXT_OF(c) NUMBER_OF(AT(c, RECORD(read[c] % SLOTS)))
#define GONE(c) (FLIGHT && AT(c, COMMIT(read[c] % SLOTS)) != COMMIT_WORD(read[c]))
#define FIRST(c) (known[c] && (at_time[c] < at_time[1 - (c)] || \
    known[1 - (c)] && at_time[c] == at_time[1 - (c)] && \
    (variant != TIE_OF_OVERWRITTEN && GONE(c) || DEVICE(1) == 1 || \
     NEXT_OF(c) < NEXT_OF(1 - (c)) && !(variant != TIE_OF_OVERWRITTEN && GONE(1 - (c))))))

proctype reader() {
    byte now, mark, bound, head, slot, commit, record;
    do
    :: done == CPUS && (received == told || FLIGHT) -> break
    :: !known[0] -> look(0)
    :: !known[1] -> look(1)
    :: FIRST(0) -> take(0)
    :: FIRST(1) -> take(1)
    od
}

/* Reads CPU 0's ring alone, without a merge. */
proctype second_reader() {
    byte record;
end:
    do
    :: AT(0, HEAD) > second_tail ->
        record = AT(0, RECORD(second_tail % SLOTS));
        atomic {
            broken = record != truth[second_tail];
            assert(!broken);
            record = 0;
            second_tail++
        }
    od
}

/* A reset at any moment, and then hyp/services/black_box/: the mark and the slot that it names are two lines, of which
 * memory has an older state than the CPU. Here the mark's is the older one. If the slot's is, it may be of the access
 * before, with its commit word cleared: no order of stores prevents that. */
proctype black_box() {
    byte slot, in_flight;
end:
    atomic { AT(0, MARK) >= IN_SLOT(0) -> slot = AT(0, MARK) - IN_SLOT(0); in_flight = began[0] };
    atomic {
        untrue = (variant == RESET_ANY_COMMIT || AT(0, COMMIT(slot)) == 0) &&
                 TIME_OF(AT(0, RECORD(slot))) != in_flight && TIME_OF(AT(0, RECORD(slot))) != began[0];
        assert(!untrue)
    }
}

init {
    d_step {
        c_code {
            variant = atoi(getenv("VARIANT"));
            budget = atoi(getenv("BUDGET"));
            fast_cpus = atoi(getenv("FAST"));
        };
    };
    atomic {
        run store_buffer(0);
        run store_buffer(1);
        run writer(0);
        run writer(1);
        run ticks();
        run reader();
        if
        :: variant == TWO_READERS || variant == ROOM_OF_ONE_READER -> run second_reader()
        :: variant >= RESET -> run black_box()
        :: else
        fi
    }
}
