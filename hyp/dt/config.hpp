// The options and the boot modules under /chosen (names: abi/layout.hpp).
#pragma once

#include "abi/fold.hpp"
#include "abi/layout.hpp"
#include "abi/ring.hpp"
#include "arch/psci.hpp"
#include "base/fixed_vector.hpp"
#include "dt/tree.hpp"

namespace mmioscope {

struct BootModules {
    Range kernel;
    Range ramdisk; ///< empty: none
};

/// A request to carry out before the guest runs, as in the device tree; not checked.
struct EarlyRequest {
    std::uint32_t command;
    std::uint32_t argument[2];
};

/// Where the guest's kernel keeps a task's names: offsets in bytes from the task's address.
struct TaskOffsets {
    std::uint32_t comm; ///< 16 characters; 0: no names
    std::uint32_t pid;  ///< tgid follows
};

struct Config {
    abi::EngineKind engine{abi::EngineKind::shadow};
    abi::Policy policy{abi::Policy::drop};
    bool pre{};          ///< a `begin` record before each access
    bool slow_path{};    ///< no access takes the fast path
    bool control{true};  ///< the guest gets a control page
    bool guest_reader{}; ///< the guest may read and write the trace area
    std::uint32_t area_size{};
    int uart_node{-1};   ///< negative: the board's choice
    int stream_node{-1}; ///< negative: no stream
    std::uint32_t stream_baud{};
    std::uint32_t stream_quantum{}; ///< ns
    bool stream_paced{};
    abi::Fold stream_fold{abi::Fold::off};
    bool stream_shared{};                       ///< the UART remains the guest's, too
    bool host_reader{};                         ///< rings wait for a reader over shared memory
    psci::Conduit conduit{psci::Conduit::none}; ///< of the guest's PSCI calls
    BootModules modules;
    FixedVector<EarlyRequest, abi::chosen::max_requests> requests;
    TaskOffsets task_names{};

    /// The stream's UART, if the guest does not get it; else negative.
    int withheld_stream() const { return stream_shared ? -1 : stream_node; }
};

/// Reads /chosen and /psci. After an error, nothing in `config` is valid.
BootError read_config(const Tree& tree, Config& config);

} // namespace mmioscope
