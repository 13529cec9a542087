// Where things lie relative to the hypervisor's load address, and the names under /chosen:
// what a boot loader (or `mmioscope run`) must know to start the hypervisor.
//
//   base + 0           the hypervisor's image and tables      (kept from the guest)
//   base + 14 MiB      device tree, if r2 held none at entry  (kept from the guest)
//   base + 15 MiB      control page (abi/control.hpp): nothing is there, Hyp answers
//   base + 16 MiB      trace area, `mmioscope,area-size` long (kept from the guest)
//   base - 2 MiB       device tree the guest is given         (guest RAM)
//
// The kernel and the ramdisk are found as Xen's boot modules are: nodes under /chosen,
// compatible with "multiboot,kernel" or "multiboot,ramdisk", whose `reg` says where they lie.
#pragma once

#include <cstdint>

namespace mmioscope::abi {

inline constexpr std::uint32_t boot_tree_offset = 14u << 20;
inline constexpr std::uint32_t control_page_offset = 15u << 20; ///< guest address; 4 KiB
inline constexpr std::uint32_t area_offset = 16u << 20;
inline constexpr std::uint32_t guest_tree_room = 2u << 20;    ///< bytes, below the base
inline constexpr std::uint32_t max_tree_size = 1u << 20;      ///< a larger one is refused
inline constexpr std::uint32_t default_area_size = 64u << 20; ///< bytes
inline constexpr std::uint32_t default_stream_baud = 115'200;
inline constexpr std::uint32_t default_stream_quantum = 1024; ///< ns
static_assert(boot_tree_offset + max_tree_size <= control_page_offset);

namespace chosen {
inline constexpr char trace[] =
    "mmioscope,trace"; ///< stringlist: all, none, a path, an alias, BASE+SIZE; '!' in front
                       ///< excludes; default all
inline constexpr char engine[] = "mmioscope,engine"; ///< "shadow" (default), "emulation", or
                                                     ///< "unprotect": a baseline that loses events
inline constexpr char policy[] = "mmioscope,policy"; ///< "drop" (default), "stall" or "flight"
inline constexpr char pre[] =
    "mmioscope,pre"; ///< present: a `begin` record before each access that is traced
inline constexpr char slow_path[] =
    "mmioscope,slow-path"; ///< present: no access takes the fast path; the trace is the same
inline constexpr char area_size[] = "mmioscope,area-size"; ///< u32, bytes, a multiple of 4 KiB
inline constexpr char uart[] =
    "mmioscope,uart"; ///< path or alias of the hypervisor's UART; default: the board's choice
inline constexpr char stream[] =
    "mmioscope,stream"; ///< path or alias of a UART for the trace (abi/wire.hpp); default: none
inline constexpr char stream_baud[] = "mmioscope,stream-baud"; ///< u32, bits/s; default 115200
inline constexpr char stream_paced[] =
    "mmioscope,stream-paced"; ///< if present, no more than stream-baud even if the UART takes it
inline constexpr char stream_shared[] =
    "mmioscope,stream-shared"; ///< if present, the UART is the guest's console as well
                               ///< (abi/shared_wire.hpp)
inline constexpr char stream_quantum[] =
    "mmioscope,stream-quantum"; ///< u32, ns: times in the stream are multiples of the largest
                                ///< power of two ticks that is not longer; 0: exact; default 1024
inline constexpr char stream_fold[] =
    "mmioscope,stream-fold"; ///< "off" (default): each record is sent; "steps": of equal reads in
                             ///< equal steps of time, the number; "polls": of all equal reads
inline constexpr char host_reader[] =
    "mmioscope,host-reader"; ///< "on" or "off": whether rings wait for a reader over shared
                             ///< memory; default: on, with a stream or a reader in the guest off
inline constexpr char guest_reader[] =
    "mmioscope,guest-reader"; ///< present: the guest may map the trace area, and a program of its
                              ///< own is the rings' second reader; neither with a stream nor
                              ///< `stall`
inline constexpr char control[] =
    "mmioscope,control"; ///< "on" (default), or "off": no control page
inline constexpr char requests[] =
    "mmioscope,requests"; ///< u32s, three for each request: command, argument[0], argument[1]
                          ///< (abi/control.hpp); carried out in their order before the guest's
                          ///< first instruction, one that is refused ends the boot; at most
                          ///< max_requests
inline constexpr unsigned max_requests = 32;
inline constexpr char task_names[] =
    "mmioscope,task-names"; ///< u32, u32: where a task_struct of the guest's kernel has comm, and
                            ///< where pid, with tgid behind it; then records of type `task` say
                            ///< what the tasks are called. Of a kernel that has its task in
                            ///< TPIDRURO. Multiples of 4 below max_task_offset; default: nobody
                            ///< looks
inline constexpr std::uint32_t max_task_offset = 16'384;
inline constexpr char kernel[] = "multiboot,kernel";
inline constexpr char ramdisk[] = "multiboot,ramdisk";
} // namespace chosen

/// The hypervisor's UART prints this, and why, in one line before it stops for good; then what it
/// knows; then the other line.
inline constexpr char stop_line[] = "mmioscope: stop: ";
inline constexpr char end_of_report[] = "mmioscope: end of report";

} // namespace mmioscope::abi
