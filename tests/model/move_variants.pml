/* What a run of move.pml leaves out. tests/model/run.sh reads this table, as that of live.pml.
 */
#define MOVE_AS_BUILT 0           // none: a page moves between CPUs that load and store
#define MOVE_NO_LOCK 1            // foreign|late|both|again: two CPUs take it at once
#define MOVE_NO_TLBI 2            // foreign|late|both: the CPUs that had it are not told
#define MOVE_NO_DSB_BEFORE_TLBI 3 // foreign|late|both: a walk of such a CPU, behind the TLBI, still finds its descriptor
#define MOVE_NO_DSB_BEHIND_TLBI 4 // foreign|late|both: it is given before these CPUs have forgotten it
#define MOVE_GIVEN_FIRST 5        // both|foreign: it is given before it is taken
#define MOVE_ONE_VIEW 6           // foreign|late|both: it is taken from the normal view only, and not from that of steps
#define MOVE_NO_TLBI_FOR_LOADS 7  // foreign|late|both: a CPU that may no longer store is not told
#define MOVE_NO_LOCAL_TLBI 8      // again: a CPU that may store now still knows that it may not
