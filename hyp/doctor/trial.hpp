// The trial: a small guest inside the doctor's image, which does what a kernel does, under the
// hypervisor as it is. It tells the doctor what it has seen by stores to a page that no table of
// the guest has, so each of them traps.
#pragma once

#include "abi/ring.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace mmioscope::doctor {

/// What the trial stores to the page, at 4 * n.
enum class Tell : std::uint32_t {
    order,       ///< a load: the address of the Order
    flushed,     ///< Order::flushed, read with the MMU off
    arrived,     ///< this CPU has its MMU and caches on: a word read one byte behind `flushed`
    reads_begin, ///< `reads` reads of Order::device follow
    reads_end,   ///< the last value
    monitor,     ///< status of a store-exclusive behind a trap (0: success), and of one alone
    timer,       ///< whether the virtual timer fired
    interrupt,   ///< GICC_IAR after an interrupt to itself
    answer,      ///< the firmware's, to CPU_ON
    missing,     ///< the number of a CPU that did not come in time
    exception,   ///< the mode of an exception that it took (arch/psr.hpp)
    done,        ///< this CPU is ready
    hanging,     ///< the number of a CPU that came and is not done in time
    hvc_begin,   ///< an HVC follows
    hvc_end,
    steps_end,  ///< the last value; as `reads_end`, of loads with writeback
    others_run, ///< all other CPUs that are done turn in a loop
};

inline constexpr std::uint32_t reads = 1000;
inline constexpr std::uint32_t pattern = 0x6d6d'696f;
inline constexpr std::uint32_t trial_interrupt = 1; ///< software-generated, to itself

/// In the value of Tell::monitor: the status of a store-exclusive without a monitor. 1: it failed
/// by itself, 2: it trapped.
inline constexpr unsigned exclusive_alone_shift = 8;

/// What the doctor tells the trial. Both have it cached, except for `flushed` at first.
struct Order {
    std::uint32_t flushed; ///< `pattern`, once it is in memory
    std::uint32_t table;   ///< stage 1, which has Hyp's format; below 4 GiB
    std::uint32_t device;  ///< a register that may be read at any time
    std::uint32_t log2_width;
    std::uint32_t cpus;
    std::uint32_t steps;                   ///< 0: CPU 0 can only emulate
    std::uint32_t cpu_on;                  ///< the firmware's function; 0: a register starts CPUs
    std::uint32_t hvc;                     ///< its calls are HVC, not SMC
    std::uint32_t start[abi::max_cpus];    ///< the register that starts the CPU; 0: none
    std::uint32_t affinity[abi::max_cpus]; ///< the CPU's, for firmware
    std::uint32_t distributor;             ///< of the GIC; 0: there is none
    std::uint32_t cpu_interface;
    std::uint32_t ticks;                            ///< a second
    std::uint32_t word;                             ///< for exclusives
    std::uint32_t arrived;                          ///< a bit for each CPU
    std::uint32_t done;                             ///< a bit for each CPU
    std::array<std::uint32_t, abi::max_cpus> turns; ///< of each CPU that is done
    std::uint32_t over;                             ///< 1: they may rest
};
// doctor/entry.S
static_assert(offsetof(Order, flushed) == 0 && offsetof(Order, table) == 4);

} // namespace mmioscope::doctor
