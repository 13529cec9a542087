// What /chosen asks of the hypervisor, and what it is to boot (names: abi/layout.hpp).
#pragma once

#include "arch/psci.hpp"
#include "dt/tree.hpp"

namespace mmioscope {

struct BootModules {
    Range kernel;
    Range ramdisk; ///< empty if there is none
};

struct Config {
    abi::EngineKind engine{abi::EngineKind::shadow};
    abi::Policy policy{abi::Policy::drop};
    bool pre{}; ///< a `begin` record before each access
    bool control{true}; ///< the guest gets a control page
    std::uint32_t area_size{};
    int uart_node{-1};   ///< negative: the board's
    int stream_node{-1}; ///< negative: no stream
    std::uint32_t stream_baud{};
    std::uint32_t stream_quantum{}; ///< ns
    bool stream_paced{};
    bool host_reader{};                         ///< rings wait for a reader over shared memory
    psci::Conduit conduit{psci::Conduit::none}; ///< of the guest's PSCI calls
    BootModules modules;
};

/// Reads it. On an error nothing in `config` may be relied on.
BootError read_config(const Tree& tree, Config& config);

} // namespace mmioscope
