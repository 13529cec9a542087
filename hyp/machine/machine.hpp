// What the CPUs share. Filled in by CPU 0 before any CPU enters the guest and constant from then
// on, but for what a command changes (control/), the locks, the power state and the stop flag,
// which synchronise themselves.
#pragma once

#include "dev/paced_line.hpp"
#include "dev/shared_line.hpp"
#include "dev/uart_line.hpp"
#include "dt/config.hpp"
#include "machine/control_state.hpp"
#include "machine/cpu.hpp"
#include "machine/integrity.hpp"
#include "machine/power.hpp"
#include "mm/page_index.hpp"
#include "mm/stage1.hpp"
#include "stream/stream.hpp"

namespace mmioscope {

class Engine;

struct Machine {
    // From here to `locks` constant, and sealed (machine/integrity.hpp).
    Config config;
    RegionTable regions;
    RegionMap map;
    MemoryMap guest_memory;
    ImageLayout image;
    Range control_page; ///< empty: there is none
    Range own_memory;   ///< the hypervisor's: from its first byte to the end of the trace area
    Range boot_tree;    ///< the device tree the boot loader handed over
    Uart uart;
    bool user_firewall{}; ///< the board's
    unsigned cpu_count{};

    TablePool pool{nullptr, 0};
    TranslationTable hyp_boot_table; ///< until the device tree is read: image, tree and UART only
    TranslationTable hyp_table;
    TranslationTable normal_table;
    TranslationTable shadow_tables[abi::max_cpus];
    PageIndex pages;
    /// By bits 23:16 of HSR, loads first (entry/fast_path.S): of PL1, and of User mode.
    std::uint32_t fast_dispatch[2][512]{};

    abi::AreaHeader* area{};
    Engine* engine{};

    RegionLocks locks;
    Lock changes; ///< held while what is sealed changes, or is looked at; last in the lock order
    ControlState control;
    Integrity integrity;
    Power power;
    UartLine stream_uart;
    PacedLine stream_line;
    SharedLine shared_line; ///< over stream_line, if the UART is the console, too
    Stream stream;
    std::atomic<std::uint32_t> stopped{0}; ///< a CPU panicked: whoever traps next halts

    Tree tree; ///< the boot loader's: not to be read once the guest runs
    Cpu cpus[abi::max_cpus];
};

} // namespace mmioscope
