/* What a run of the model leaves out or does in another way. tests/model/run.sh reads this table:
 *
 *   #define NAME number  // TRACED-PAGES EXPECTED: what is different
 *
 * TRACED-PAGES: a bit for each page. EXPECTED: the property that must fail (properties.pml; one of several,
 * whichever the search meets first), or `none`.
 */
#define AS_BUILT 0                 // 1 none: the protocol, one page traced and one of RAM
#define AS_BUILT_TWO_REGIONS 1     // 3 none: the protocol, two traced pages with a lock each
#define NO_TLBI_AT_ENTRY 2         // 1 refault: no TLBIALL when the shadow table is opened
#define NO_TLBI_AT_EXIT 3          // 1 unrecorded: no TLBIALL when it is closed
#define TLBI_BEFORE_VTTBR 4        // 1 unrecorded: TLBIALL, DSB, and then the VTTBR write, ISB
#define NO_ISB_BEHIND_VTTBR 5      // 1 unrecorded: TLBIALL while the VTTBR write may not have taken effect
#define NO_DSB_BEHIND_TLBI 6       // 1 unrecorded: nobody waits for the TLBIALL
#define TLBI_OF_ONE_PAGE 8         // 3 refault|unrecorded: only the page that trapped is invalidated
#define TWO_VMIDS 9                // 1 stale: a VMID for the shadow tables, never invalidated
#define TWO_VMIDS_TLBI_AT_ENTRY 10 // 1 stale: ... invalidated at entry
#define TWO_VMIDS_TLBI_AT_EXIT 11  // 1 stale: ... at exit
#define TWO_VMIDS_TLBI_AT_BOTH 12  // 1 stale: ... at both
#define TWO_VMIDS_TTLB 13          // 1 none: ... the guest's TLBIs trapped, and held while a step is in flight
#define OPEN_FOR_ALL 14            // 1 unrecorded: the page is opened in the table that all CPUs share (mmiotrace)
#define INTERRUPTS_NOT_MASKED 15   // 1 unrecorded: an interrupt is taken on the shadow table
#define NO_VECTOR_BREAKPOINTS 16   // 1 unrecorded: an abort's handler runs on the shadow table
#define NO_LOCK 17                 // 1 order: no region lock
#define SEQUENCE_BEFORE_LOCK 18    // 1 order: the sequence number is taken before the lock
#define UNLOCK_BEFORE_CLOSE 19     // 1 order: the lock is given back at the beginning of the step's end
#define NO_DSB_BEFORE_UNLOCK 20    // 1 order: the lock is given back while a store is on its way
#define UNLOCK_ONLY_IF_PLANNED 21  // 1 waiting: a step that ends by an exception keeps its lock
#define LOCK_ORDER_AND_NO_BOUND 22 // 3 deadlock: locks in the instruction's order, waits without a bound
#define GIVE_UP_AND_KEEP 23        // 3 waiting: a wait that gives up keeps the locks it has
#define LIMIT_EMULATION 24         // 1 stale: emulation accesses a frame that was unmapped between trap and access
#define LIMIT_REMAPPED 25          // 1 misnamed: the record has the address of the trap, the step may have another
#define SWITCHED 26                // 1 none: what is traced changes meanwhile (hyp/services/control/)
#define SWITCHED_NO_TLBI 27        // 1 unrecorded: ... and nobody is told
#define SWITCHED_NO_DSB 28         // 1 unrecorded: ... and nobody waits until everybody has heard
#define SWITCHED_NO_LOCK 29        // 1 unrecorded|superfluous: ... while accesses are in flight
#define SWITCHED_DECIDED_AT_TRAP 30 // 1 unrecorded|superfluous: ... and whoever waited for the lock does not look again
#define SWITCHED_RECORD_FIRST 31   // 1 unrecorded: ... and "on" is recorded before the tables are changed
#define SWITCHED_RECORD_LAST 32    // 1 superfluous|unrecorded: ... and "off" when others can reach the page
