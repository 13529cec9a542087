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
//
// A kernel has one module of a name. So one that was told of again, as it is now or somewhere else,
// has taken the place of what was told before; that is still known while at least
// ModuleTable::most_replaced others follow, as packing moves such sections in front of records that
// they are not for, and no longer.
#pragma once

#include "abi/container.hpp"
#include "mmioscope/event.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
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
        std::uint32_t name; ///< where it is in `names`
    };

    static constexpr std::size_t most_name = 64; ///< 56 in a kernel of 32 bits

    std::string name;
    std::uint64_t number = 0; ///< of all that the trace has told of, from 1 on
    std::uint32_t base = 0;   ///< as in /proc/modules
    std::uint64_t size = 0;
    bool live = false;   ///< else being loaded or unloaded
    bool marked = false; ///< by the guest (module_mark.hpp): for nothing before `time`
    std::uint64_t time = 0;
    std::vector<Range> text;
    std::vector<Function> functions; ///< by address
    std::string names;               ///< of functions, each with a zero behind it

    bool has(std::uint32_t address) const;
    const char* name_of(const Function& function) const { return names.data() + function.name; }
    std::size_t bytes() const; ///< of memory, about
};

/// As TaskTable: bounded, and what is known depends on what was told only. A copy takes no memory
/// to speak of: what is known of a module is shared.
class ModuleTable {
public:
    /// Of more than that half is left: what was told of last, but first of all what nothing has
    /// taken the place of.
    static constexpr std::size_t most_modules = 4096;
    static constexpr std::size_t most_bytes = 8 << 20; ///< some 300,000 functions
    static constexpr std::size_t most_replaced = 256;

    /// Takes one section. Lines that are none of the above are left out, as are functions of which
    /// a module has too many.
    void add(std::span<const std::byte> payload);

    /// Takes one that the guest has told of. What is known already is left out.
    void add(LoadedModule module);

    /// Grows with what is known.
    std::uint32_t version() const { return version_; }

    /// Of memory, about, but for what `other`, which knew less, shares.
    std::size_t bytes_beside(const ModuleTable& other) const;

    /// In the order in which they became known.
    const std::vector<std::shared_ptr<const LoadedModule>>& modules() const { return modules_; }

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
    void learn(LoadedModule module);
    void forget();

    std::vector<std::shared_ptr<const LoadedModule>> modules_;
    std::size_t bytes_ = 0; ///< of them all
    std::uint64_t learnt_ = 0;
    std::uint64_t forgot_ = 0; ///< learnt_ when something was forgotten last
    std::uint32_t version_ = 1;
};

} // namespace mmioscope::trace
