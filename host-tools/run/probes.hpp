// The probes of a run, from the kernel's start (`mmioscope,probes`), or while it runs.
#pragma once

#include "control/requests.hpp"
#include "linux/address_space.hpp"
#include "run/input.hpp"
#include "symbols/symbols.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mmioscope::run {

struct Probes {
    std::vector<std::uint32_t> cells;                        ///< of mmioscope,probes
    std::optional<std::vector<std::uint32_t>> loads_modules; ///< of mmioscope,loads-modules
    std::vector<std::string> of_modules;                     ///< MODULE:FUNCTION
};

/// Those for functions of `kernel`, an image: their names, with `*`, `?` and `[]` as
/// in a shell, or addresses of instructions; `@FILE`: one of these in each line. Throws Error
/// (bad_input) if there is no such function. `returns`: of each function, too; not of addresses,
/// and of what only counts. `memory`: where it begins.
Probes probes_of(const std::vector<std::string>& wanted, bool returns, const Bytes& kernel,
                 std::uint64_t memory);

/// The virtual address at which a kernel whose first byte is at `text` has the first byte of
/// memory: its decompressor puts it there (AUTO_ZRELADDR), and 128 MiB are mapped in one piece
/// (Documentation/arm/memory.rst).
std::uint32_t memory_begin(std::uint32_t text);

/// Finds functions of `kernel`, an image, and of `modules`, files with their addresses
/// (symbols/symbol_files.hpp). Throws Error (bad_input) if they are none.
control::FindCode code_of(const Bytes& kernel, const std::vector<std::string>& modules,
                          bool returns);

/// `MODULE:FUNCTION`.
inline bool names_module(std::string_view function) {
    return function.find(':') != function.npos;
}
/// Whether a `function` of `module` (empty: of the kernel) is called so, as in a shell.
bool fits(const std::string& pattern, const std::string& module, const std::string& function);

// What a run watches of the guest's memory, from its start (`mmioscope,watch`), or while it runs.

/// Finds the variables in `symbols`, each up to the next symbol, if memory begins at `ram_base`.
/// Throws Error (bad_input) if there is no such symbol.
control::FindDevice variables_in(symbols::SymbolList symbols, std::uint64_t ram_base);

/// The property's cells for `wanted`: BASE+SIZE, what `find` finds, or a word of that
/// (NAME+OFFSET). Throws Error (bad_input).
std::vector<std::uint32_t> watch_cells(const std::vector<std::string>& wanted,
                                       const control::FindDevice& find);

/// Likewise the cells of `mmioscope,pages`; `all`: none, which means all memory.
std::vector<std::uint32_t> page_cells(const std::vector<std::string>& wanted,
                                      const control::FindDevice& find);

// Probes of modules' functions: set each time when the guest loads a module, before its init
// function runs.

class ModuleProbes {
public:
    /// `ram` is the guest's; the hypervisor's mailbox (abi/control.hpp) is in it at the physical
    /// address `mailbox`, and writable. `flags`: of each function's probe.
    ModuleProbes(const std::vector<std::string>& patterns, std::uint32_t flags,
                 std::span<std::byte> ram, std::uint64_t base, std::uint64_t mailbox);

    /// Answers a module that waits. Never waits for long.
    void pass();
    /// Says on standard error which patterns have had no function.
    void finish() const;

private:
    using Clock = std::chrono::steady_clock;

    void look_at(std::uint32_t module);
    bool answered();
    void send();

    std::vector<std::string> patterns_;
    std::set<std::string> used_; ///< there was such a function
    std::uint32_t flags_;
    linux_guest::PhysicalMemory memory_;
    volatile std::uint32_t* mailbox_;
    std::uint32_t module_ = 0; ///< that `asks_` are for; 0: none
    std::deque<control::Ask> asks_;
    std::size_t refused_ = 0; ///< of module_
    std::string name_;
    std::uint16_t id_ = 0;
};

} // namespace mmioscope::run
