/* How long a page stays in a run of hold.pml. tests/model/run.sh reads this table, as that of live.pml.
 */
#define HOLD_AS_BUILT 0    // none: until the CPU that it came to has made the pair
#define HOLD_NOTHING 1     // livelock: it is taken before the instruction that trapped has run again
#define HOLD_ONE 2         // livelock: for that instruction only, as by 1 microsecond in one thread of QEMU
#define HOLD_NO_STORE 3    // livelock: for the load-exclusive, but not for the store
#define HOLD_FOR_LOADS 4   // livelock: not if it came for a store
#define HOLD_ONE_OF_QEMU 5 // none: for that instruction, where a trap leaves the monitor as it is
#define HOLD_OWN 6         // none: from the CPU that it came to, too, if that wants more of it
