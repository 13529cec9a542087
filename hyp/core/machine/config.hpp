// The options and the boot modules that the device tree names (dt/config.hpp).
#pragma once

#include "abi/layout.hpp"
#include "abi/ring.hpp"
#include "arch/psci.hpp"
#include "base/address.hpp"

#include <optional>

namespace mmioscope {

struct BootModules {
    Range kernel;
    Range ramdisk; ///< both empty: none
};

struct Config {
    abi::EngineKind engine{abi::EngineKind::shadow};
    abi::Policy policy{abi::Policy::drop};
    bool pre{};            ///< a `begin` record before each access
    bool slow_path{};      ///< no access takes the fast path
    bool no_breakpoints{}; ///< none may be used, as if DBGEN were low
    /// Something on the bus tells accesses of User mode (PL0) from privileged ones (AXI's
    /// AxPROT[0], IHI 0022). Hyp's own accesses are privileged, so it makes none for User mode.
    bool user_firewall{};
    bool guest_reader{}; ///< the guest may read and write the trace area
    std::uint32_t area_size{abi::default_area_size};
    bool host_reader{true};                     ///< rings wait for a reader over shared memory
    psci::Conduit conduit{psci::Conduit::none}; ///< of the guest's PSCI calls
    psci::NamedFunctions psci_functions;
    BootModules modules;
    std::optional<std::uint32_t> entry;      ///< of the guest; nothing: the kernel's first byte
    std::optional<std::uint32_t> guest_tree; ///< its address; nothing: below the image
};

} // namespace mmioscope
