// Section `modules` of a trace file: the guest's modules and their functions, read without their
// files. The payload is lines of text. A module that was loaded or changed its state has
//
//   module NAME BASE SIZE live|loading TIME
//   text BASE SIZE
//   ADDRESS TYPE FUNCTION [NAME]
//   frame ADDRESS OPCODES
//
// BASE and SIZE of the first line are as in /proc/modules, and TIME is as in records. `text` is the
// place of its code; while it is loading, that of its init functions. Functions are as in
// /proc/kallsyms. `frame` is there in a trace with stacks: how the frames of the function that
// begins there, and of those behind it, are undone (symbols/unwind.hpp); "-": they cannot be. SIZE
// and TIME are decimal, all else hexadecimal. The section precedes the first record from the
// module's code if the recorder knew the module by then; otherwise it follows within a second.
//
// A kernel has only one module of a name. A later entry, unchanged or at another address, therefore
// replaces the earlier one. The earlier one stays known until ModuleTable::most_replaced others
// follow, because packing moves such sections to before records that they do not apply to.
#pragma once

#include "abi/container.hpp"
#include "mmioscope/event.hpp"
#include "symbols/unwind.hpp"

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
        std::uint32_t name; ///< position in `names`
    };

    static constexpr std::size_t most_name = 64; ///< 56 in a 32-bit kernel

    std::string name;
    std::uint64_t number = 0; ///< among all in the trace, from 1
    std::uint32_t base = 0;   ///< as in /proc/modules
    std::uint64_t size = 0;
    bool live = false;   ///< otherwise it is being loaded or unloaded
    bool marked = false; ///< by the guest (module_mark.hpp): does not apply before `time`
    std::uint64_t time = 0;
    std::vector<Range> text;
    std::vector<Function> functions; ///< by address
    std::string names;               ///< of functions, each followed by a zero
    symbols::UnwindTable frames;

    bool has(std::uint32_t address) const;
    const char* name_of(const Function& function) const { return names.data() + function.name; }
    std::size_t bytes() const; ///< approximate memory
};

/// The payload with only those functions that are needed: a lookup of an address in `used`, which
/// is sorted, finds the same in it.
std::string only_used(std::string_view payload, std::span<const std::uint32_t> used);

/// Like TaskTable, it is bounded, and its content depends only on what was added. Cheap to copy:
/// copies share the modules.
class ModuleTable {
public:
    /// Beyond this, keeps half of them: the newest, after dropping replaced ones.
    static constexpr std::size_t most_modules = 4096;
    static constexpr std::size_t most_bytes = 8 << 20; ///< some 300,000 functions
    static constexpr std::size_t most_replaced = 256;

    /// Takes one section. Ignores lines in any other format, and functions beyond a module's limit.
    void add(std::span<const std::byte> payload);

    /// Takes a module that the guest has reported. Ignores what is already known.
    void add(LoadedModule module);

    /// Grows with the content.
    std::uint32_t version() const { return version_; }

    /// Approximate memory, without what is shared with `other`, an earlier state.
    std::size_t bytes_beside(const ModuleTable& other) const;

    /// In the order in which they became known.
    const std::vector<std::shared_ptr<const LoadedModule>>& modules() const { return modules_; }

    /// The module with code at `address`: of several, the last one known at `time`. Otherwise the
    /// first one that became known later, except from the guest's markers. Null if there is none.
    const LoadedModule* module_at(std::uint32_t address, std::uint64_t time) const;

    /// module_at(), and the times for which the result is the same, as far as known.
    struct Found {
        const LoadedModule* module = nullptr;
        std::uint64_t from = 0;
        std::uint64_t to = UINT64_MAX; ///< may differ after this
    };
    Found find(std::uint32_t address, std::uint64_t time) const;

    /// The function at `address` in that module. Nothing if there is none.
    std::optional<Location> function_at(std::uint32_t address, std::uint64_t time) const;

private:
    void learn(LoadedModule module);
    void forget();

    std::vector<std::shared_ptr<const LoadedModule>> modules_;
    std::size_t bytes_ = 0; ///< of all modules
    std::uint64_t learnt_ = 0;
    std::uint64_t forgot_ = 0; ///< value of learnt_ at the last removal
    std::uint32_t version_ = 1;
};

} // namespace mmioscope::trace
