// The properties under /chosen by which a boot loader (or `mmioscope run`) tells the hypervisor
// what to do.
//
// The kernel and the ramdisk are described as for Xen: nodes under /chosen, compatible with
// "multiboot,kernel" or "multiboot,ramdisk", whose `reg` says where they lie.
#pragma once

#include "abi/layout.hpp"

namespace mmioscope::abi {

inline constexpr std::uint32_t default_stream_baud = 115'200;
inline constexpr std::uint32_t default_stream_quantum = 1024; ///< ns

namespace chosen {
inline constexpr char trace[] =
    "mmioscope,trace"; ///< stringlist: all, none, a path, an alias, BASE+SIZE; `!` in front
                       ///< excludes; default all
inline constexpr char engine[] = "mmioscope,engine"; ///< "shadow" (default), "emulation", or
                                                     ///< "unprotect", a baseline that loses events
inline constexpr char policy[] = "mmioscope,policy"; ///< "drop" (default), "stall" or "flight"
inline constexpr char pre[] =
    "mmioscope,pre"; ///< present: a `begin` record before each traced access
inline constexpr char slow_path[] =
    "mmioscope,slow-path"; ///< present: no access takes the fast path; the trace is the same
inline constexpr char no_breakpoints[] =
    "mmioscope,no-breakpoints"; ///< present: as where DBGEN is low
inline constexpr char user_firewall[] =
    "mmioscope,user-firewall"; ///< present: the bus tells accesses of User mode from privileged
                               ///< ones, so the shadow engine makes those of User mode
inline constexpr char area_size[] = "mmioscope,area-size"; ///< u32, bytes, a multiple of 4 KiB
inline constexpr char entry[] =
    "mmioscope,entry"; ///< u32, address at which the guest is entered; bit 0: in Thumb state.
                       ///< Default: the kernel's first byte. With it, no kernel is needed: firmware
                       ///< in flash
inline constexpr char guest_tree[] =
    "mmioscope,guest-tree"; ///< u32, where the guest's device tree is written, a multiple of 8;
                            ///< guest_tree_room bytes of its memory. Default: below the base
inline constexpr char uart[] =
    "mmioscope,uart"; ///< path or alias of the hypervisor's UART; default: the
                      ///< guest's console, before it starts and after it ends
inline constexpr char stream[] =
    "mmioscope,stream"; ///< path or alias of a UART for the trace (abi/wire.hpp); default: none
inline constexpr char stream_baud[] = "mmioscope,stream-baud"; ///< u32, bits/s; default 115200
inline constexpr char stream_paced[] =
    "mmioscope,stream-paced"; ///< present: never faster than stream-baud, even if the UART takes
                              ///< more
inline constexpr char stream_shared[] =
    "mmioscope,stream-shared"; ///< present: the UART is also the guest's console
                               ///< (abi/shared_wire.hpp)
inline constexpr char stream_quantum[] =
    "mmioscope,stream-quantum"; ///< u32, ns (default 1024): times in the stream are multiples of
                                ///< 2^n ticks, the longest such unit that is no longer than this;
                                ///< 0: exact
inline constexpr char stream_fold[] =
    "mmioscope,stream-fold"; ///< "off" (default): each record is sent; "steps": equal reads at
                             ///< equal intervals are sent as a count; "polls": all equal reads
inline constexpr char host_reader[] =
    "mmioscope,host-reader"; ///< "on" or "off": whether the rings wait for a reader over shared
                             ///< memory; default: "off" with a stream or a reader in the guest,
                             ///< else "on"
inline constexpr char guest_reader[] =
    "mmioscope,guest-reader"; ///< present: the guest may map the trace area, and a program in the
                              ///< guest is the rings' second reader; not with a stream or `stall`
inline constexpr char control[] = "mmioscope,control"; ///< "on" (default) or "off": no control page
inline constexpr char requests[] =
    "mmioscope,requests"; ///< u32s, three per request (command, argument[0], argument[1];
                          ///< abi/control.hpp), at most max_requests; carried out in order before
                          ///< the guest's first instruction; a refused one ends the boot
inline constexpr unsigned max_requests = 32;
inline constexpr char task_names[] =
    "mmioscope,task-names"; ///< u32, u32: offsets of comm and of pid (tgid follows it) in the guest
                            ///< kernel's task_struct, multiples of 4 below max_task_offset; records
                            ///< of type `task` then name the tasks. Only for kernels with `current`
                            ///< in TPIDRURO. Default: no names
inline constexpr std::uint32_t max_task_offset = 16'384;
inline constexpr char probes[] =
    "mmioscope,probes"; ///< u32s: physical address of the kernel's text minus its virtual one,
                        ///< then two per probe (virtual address, ARM instruction; abi/control.hpp).
                        ///< If the first of two is below 16 MiB, it is a command for the probes
                        ///< behind it (bits 7:0) with its argument[0]; the second is argument[1].
                        ///< They are set when the kernel first executes their page. Empty: requests
                        ///< may set probes. Default: there are none, and memory never changes
inline constexpr char loads_modules[] =
    "mmioscope,loads-modules"; ///< u32, u32: virtual address and ARM instruction of the function
                               ///< with a struct module in r0 that runs a module's init: it waits
                               ///< for requests (control::Mailbox). Needs `mmioscope,probes`
inline constexpr char watch[] =
    "mmioscope,watch"; ///< u32s, two per range: physical address, bytes, of memory
                       ///< whose accesses become records (abi/control.hpp). Empty: requests may
                       ///< watch some. Default: none, and memory never changes
inline constexpr char pages[] =
    "mmioscope,pages"; ///< u32s, two per range: physical address, bytes; memory whose pages are
                       ///< one CPU's at a time, or of several that only read, and each move
                       ///< becomes a record. None: all of it. One more u32 before them, 1 to
                       ///< 255: a page that has moved so often, each time within 1 ms, does not
                       ///< move for 10 ms or more, between two records. Default: none
inline constexpr char stacks[] =
    "mmioscope,stacks"; ///< stringlist: all, a path, an alias: the kernel's accesses to these
                        ///< devices have a payload with its stack (abi/stack.hpp); calls: so have
                        ///< `call` records. Default: none
inline constexpr char stack_size[] =
    "mmioscope,stack-size"; ///< u32, bytes of it, a multiple of 4 up to most_stack; default 256
inline constexpr char kernel[] = "multiboot,kernel";
inline constexpr char ramdisk[] = "multiboot,ramdisk";
} // namespace chosen

} // namespace mmioscope::abi
