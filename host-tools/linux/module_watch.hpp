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

    /// Whether the address is in the area of modules, but in no known module.
    bool is_strange(std::uint32_t address) {
        return reader_.area().has(address) && !known(address);
    }

    /// A record with this `time` comes from a strange address, or returns to one: reads the list of
    /// modules, unless it did so a moment ago.
    void meet(std::uint64_t time, Clock::time_point now);

    /// Reads the list from time to time; the last record has this `time`.
    void look_around(std::uint64_t time, Clock::time_point now);

    /// The changes since the last call, in the format of a section `modules`
    /// (records/module_table.hpp); empty if there are none. Not longer than a section may be, if it
    /// is called after each `now`.
    std::string take_news() { return std::exchange(news_, {}); }

    /// The function at `address` in the most recent list of modules.
    std::optional<symbols::Extent> function(std::uint32_t address) const;

    /// The known code of modules, and the area of unknown ones.
    symbols::Reach code() const;

    /// Grows whenever function() or code() changes.
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
    AddressRange last_{0, 0}; ///< the range that the latest address was in
    Clock::time_point next_look_{};
    Clock::time_point next_urgent_{};
    std::string news_;
};

} // namespace mmioscope::linux_guest
