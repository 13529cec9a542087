// Section `modules` of a trace file: the guest's modules and their functions, with no file of
// theirs at hand. Payload: lines of text. A module that was loaded, or went on to another state,
// has
//
//   module NAME BASE SIZE live|loading TIME
//   text BASE SIZE
//   ADDRESS TYPE FUNCTION [NAME]
//
// where BASE and SIZE of the first are as in /proc/modules and TIME is as in records; `text` is
// where its code is, that of init functions while it is loading; functions are as in
// /proc/kallsyms. SIZE and TIME are decimal, all else hexadecimal. It stands in front of the first
// record from its code where the recorder knew the module by then, and within a second otherwise.
#pragma once

#include "abi/container.hpp"
#include "mmioscope/event.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::trace {

inline constexpr abi::SectionType modules_section{12};

/// A module as it was from `time` on.
struct LoadedModule {
    struct Range {
        std::uint32_t base;
        std::uint32_t size;
    };
    struct Function {
        std::uint32_t address;
        std::string name;
    };

    std::string name;
    std::uint32_t base = 0; ///< as in /proc/modules
    std::uint64_t size = 0;
    bool live = false; ///< else being loaded or unloaded
    bool told = false; ///< by the guest (module_mark.hpp): for nothing before `time`
    std::uint64_t time = 0;
    std::vector<Range> text;
    std::vector<Function> functions; ///< by address

    bool has(std::uint32_t address) const;
};

class ModuleTable {
public:
    /// Takes one section. Lines that are none of the above are left out.
    void add(std::span<const std::byte> payload);

    /// Takes one that the guest has told of. What is known already, and more of them than a kernel
    /// has, is left out.
    void add(LoadedModule told);

    /// Grows with what is known.
    std::uint32_t version() const { return version_; }

    /// What is known at some point of a trace.
    struct Mark {
        std::size_t modules = 0;
        std::size_t told = 0;
    };
    Mark mark() const { return {modules_.size(), told_}; }
    /// Forgets what was learnt behind `mark`.
    void go_back(const Mark& mark);

    /// In the order in which they became known.
    const std::vector<LoadedModule>& modules() const { return modules_; }

    /// The module whose code is at `address`: of several the last one known at `time`; without one,
    /// the first one that became known later, not by the guest's own word. Null if there is none.
    const LoadedModule* module_at(std::uint32_t address, std::uint64_t time) const;

    /// module_at(), and the times for which it is the same, as far as is known now.
    struct Found {
        const LoadedModule* module = nullptr;
        std::uint64_t from = 0;
        std::uint64_t to = UINT64_MAX; ///< it may be another one behind this
    };
    Found find(std::uint32_t address, std::uint64_t time) const;

    /// The function at `address`, of that module. Nothing if there is none.
    std::optional<Location> function_at(std::uint32_t address, std::uint64_t time) const;

private:
    void add_line(std::string_view line);

    static constexpr std::size_t most_told = 4096;

    std::vector<LoadedModule> modules_;
    std::size_t told_ = 0;
    std::uint32_t version_ = 1;
};

} // namespace mmioscope::trace
