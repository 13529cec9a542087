/* What a run of move.pml leaves out. tests/model/run.sh reads this table, as that of live.pml.
 */
#define MOVE_AS_BUILT 0           // none: a page that one CPU has at a time goes from CPU to CPU
#define MOVE_NO_LOCK 1            // foreign|late|both: two CPUs take it at once
#define MOVE_NO_TLBI 2            // foreign|late|both: the CPU that had it is not told
#define MOVE_NO_DSB_BEFORE_TLBI 3 // foreign|late|both: a walk of that CPU, behind the TLBI, still finds its descriptor
#define MOVE_NO_DSB_BEHIND_TLBI 4 // foreign|late|both: it is given before that CPU has forgotten it
#define MOVE_GIVEN_FIRST 5        // both: it is given before it is taken
#define MOVE_ONE_VIEW 6           // foreign|late|both: it is taken from the normal view only, and not from that of steps
