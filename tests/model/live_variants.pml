/* What a run of live.pml leaves out. tests/model/run.sh reads this table:
 *
 *   #define NAME number  // EXPECTED: what is different
 */
#define LIVE_AS_BUILT 0      // none: a descriptor changes by break-before-make
#define NO_BREAK 1           // torn|conflict: valid to valid, and all forget the old one then
#define NO_TLBI 2            // stale|conflict: nobody is told that it is invalid
#define NO_DSB_BEFORE_TLBI 3 // stale|conflict: a walk behind the TLBI still finds it
#define NO_DSB_BEHIND_TLBI 4 // stale|conflict|old_code: it is valid again while somebody still uses the old one
#define NO_ICIALLUIS 5       // old_code: the instruction caches, which may go by virtual address, keep what was there
#define LOWER_FIRST 6        // torn: the word with the valid bit is the first that becomes valid
#define NO_DMB 7             // torn: nothing orders the two words
#define NOBODY_WAITS 8       // missing: a CPU that traps meanwhile does not wait for the lock
