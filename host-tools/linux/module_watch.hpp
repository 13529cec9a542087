// Says which modules a running kernel has, and which functions are where, while it is recorded.
#pragma once

#include "abi/record.hpp"
#include "linux/module_reader.hpp"
#include "symbols/function_table.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::linux_guest {

class ModuleWatch {
public:
    using Clock = std::chrono::steady_clock;

    explicit ModuleWatch(const Kernel& kernel) : reader_(kernel) {}

    /// Looks at the list of modules from time to time, and where one of `records`, which are in the
    /// order of time, comes from code that belongs to none that is known. Returns what is new, as
    /// a section `modules` has it (lib/module_table.hpp); empty if nothing is.
    std::string see(std::span<const abi::Record> records, Clock::time_point now);

    /// The function at `address`, in the modules seen last.
    std::optional<symbols::Extent> function(std::uint32_t address) const;

    /// Grows whenever these differ.
    unsigned changes() const { return changes_; }

private:
    struct Functions {
        symbols::FunctionTable table;
        std::size_t bytes; ///< as text
    };

    bool known(std::uint32_t address);
    std::string look(std::uint64_t time);

    ModuleReader reader_;
    std::map<std::uint32_t, Module> told_;         ///< by the address of the struct module
    std::map<std::uint32_t, Functions> functions_; ///< likewise
    unsigned changes_ = 0;
    std::vector<AddressRange> text_;
    AddressRange last_{0, 0}; ///< the one of these that an address was in last
    Clock::time_point next_look_{};
    Clock::time_point next_urgent_{};
    std::uint64_t time_ = 0; ///< of the last record seen
};

} // namespace mmioscope::linux_guest
