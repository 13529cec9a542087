// What the CPUs share. CPU 0 fills it in before any CPU enters the guest. After that only these
// change: what commands change (control/), the locks, the power state and the stop flag, which
// synchronize themselves.
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
    // Constant and sealed (machine/integrity.hpp), up to `locks`.
    Config config;
    RegionTable regions;
    RegionMap map;
    MemoryMap guest_memory;
    ImageLayout image;
    Range control_page; ///< empty: no control page
    Range own_memory; ///< the hypervisor's memory, from its first byte to the end of the trace area
    Range boot_tree;  ///< the boot loader's device tree
    Uart uart;
    bool user_firewall{}; ///< Board::user_firewall
    unsigned cpu_count{};

    TablePool pool{nullptr, 0};
    TranslationTable
        hyp_boot_table; ///< used until the device tree is read: image, tree and UART only
    TranslationTable hyp_table;
    TranslationTable normal_table;
    TranslationTable shadow_tables[abi::max_cpus];
    PageIndex pages;
    /// Indexed by HSR's bits 23:16, loads before stores (entry/fast_path.S); [0] for PL1, [1] for
    /// User mode.
    std::uint32_t fast_dispatch[2][512]{};

    abi::AreaHeader* area{};
    Engine* engine{};

    RegionLocks locks;
    Lock changes; ///< held to change or check what is sealed; last in the lock order
    ControlState control;
    Integrity integrity;
    Power power;
    UartLine stream_uart;
    PacedLine stream_line;
    SharedLine shared_line; ///< on top of stream_line, if the UART is also the console
    Stream stream;
    std::atomic<std::uint32_t> stopped{0}; ///< a CPU panicked: all others halt at their next trap

    Tree tree; ///< of the boot loader; not read once the guest runs
    Cpu cpus[abi::max_cpus];
};

} // namespace mmioscope
