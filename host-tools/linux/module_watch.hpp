// Reports the modules and functions of a running kernel while it is recorded.
#pragma once

#include "linux/module_reader.hpp"
#include "symbols/function_table.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::linux_guest {

class ModuleWatch {
public:
    using Clock = std::chrono::steady_clock;

    explicit ModuleWatch(const Kernel& kernel) : reader_(kernel) {}

    /// Where modules are, and none that is known is.
    bool is_strange(std::uint32_t address) {
        return reader_.area().has(address) && !known(address);
    }

    /// A record of `time` comes from a strange address, or returns to one: looks at the list of
    /// modules, unless it did so right before.
    void meet(std::uint64_t time, Clock::time_point now);

    /// Looks at the list from time to time; the last record is of `time`.
    void look_around(std::uint64_t time, Clock::time_point now);

    /// What is new since it was asked last, as a section `modules` has it
    /// (records/module_table.hpp); empty if nothing is. No longer than one may be, if it is asked
    /// after each moment `now`.
    std::string take_news() { return std::exchange(news_, {}); }

    /// The function at `address`, in the modules seen last.
    std::optional<symbols::Extent> function(std::uint32_t address) const;

    /// Where their code is, as far as it is known, and where that of others is looked for.
    symbols::Reach code() const;

    /// Grows whenever these differ.
    unsigned changes() const { return changes_; }

private:
    struct Functions {
        symbols::FunctionTable table;
        std::size_t bytes; ///< as text
    };

    bool known(std::uint32_t address);
    void look(std::uint64_t time, Clock::time_point now);

    ModuleReader reader_;
    std::map<std::uint32_t, Module> written_;      ///< by the address of the struct module
    std::map<std::uint32_t, Functions> functions_; ///< likewise
    unsigned changes_ = 0;
    std::vector<AddressRange> text_;
    AddressRange last_{0, 0}; ///< the one of these that an address was in last
    Clock::time_point next_look_{};
    Clock::time_point next_urgent_{};
    std::string news_;
};

} // namespace mmioscope::linux_guest
