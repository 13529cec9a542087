/* What a run of ring.pml leaves out or does in another way, as in variants.pml:
 *
 *   #define NAME number  // ACCESSES-OF-EACH-CPU EXPECTED: what is different
 *
 * Up to ONE_DEVICE_HERE the CPUs access one device, under its lock; then each has a device of its own, and from
 * TWO_READERS on only CPU 0 makes accesses.
 */
#define ONE_DEVICE 0            // 2 none: the protocol
#define TWO_RECORDS 1           // 2 none: an access may be an LDM, with two records and one mark
#define ABANDONS 2              // 2 none: an access may begin a record and publish none
#define NO_DMB_BEFORE_COMMIT 3  // 1 broken: commit word and head may arrive before the record
#define TAIL_BEFORE_RECORD 4    // 3 broken: the reader gives a slot back before it has read it
#define OVERWRITES 5            // 3 none: a full ring overwrites (`flight`)
#define NO_SECOND_LOOK 6        // 3 broken: ... and the reader looks at the commit word only before the record
#define OLD_COMMIT_STAYS 7      // 3 broken: ... and the old commit word stays while a slot is written
#define TIE_OF_OVERWRITTEN 8    // 3 unordered: ... and the order at equal times may be a later record's
#define ONE_DEVICE_HERE 8
#define TWO_DEVICES 9           // 2 none: the protocol
#define NO_BEGINNING 10         // 1 unordered: no mark before the clock is read
#define NO_DSB_BEHIND_MARK 11   // 1 unordered: the clock is read while that mark is on its way
#define NO_DMB_BEFORE_BEGUN 12  // 1 unordered: "begun" may arrive before its time
#define NO_DMB_BEFORE_NONE 13   // 1 unordered: the mark may go before the head comes
#define CLOCK_BEHIND_MARK 14    // 1 unordered: the reader reads the clock behind the mark
#define HEAD_BEFORE_MARK 15     // 1 unordered: ... the head before the mark
#define MARK_BEFORE_HEAD 16     // 1 unordered: the fast path's mark may go before its head comes
#define TWO_READERS 17          // 3 none: of one CPU's ring; its writer waits for both
#define ROOM_OF_ONE_READER 18   // 3 broken: ... for the first one only
#define RESET 19                // 3 none: one CPU; the next boot has its mark's line, and the slot's of then or later
#define RESET_ANY_COMMIT 20     // 3 untrue: ... and takes the slot for the access in flight whatever its commit word is
