// The names of the guest's code.
#pragma once

#include "mmioscope/event.hpp"
#include "symbols/source.hpp"
#include "symbols/symbol.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace mmioscope::symbols {

/// How much a source is to be believed: the first that knows an address is taken.
enum class Trust {
    elf,    ///< an ELF file with symbols
    text,   ///< /proc/kallsyms, or what was found in the guest's memory
    image,  ///< the kernel's image, which knows no modules
    module, ///< where a module lies, and no more
};

/// Where a module of the guest's kernel was loaded.
struct ModuleSpan {
    std::string name;
    std::uint32_t base = 0;
    std::uint32_t size = 0; ///< bytes
};

class Symbols {
public:
    /// Of sources of one trust the one added first comes first. To be added before the first
    /// address is looked up: what was found stays as it was.
    void add(Trust trust, std::unique_ptr<Source> source);
    /// `functions`: the module's, as far as they are known. Without, a location in it has no
    /// function, and its offset is from `base`.
    void add_module(const ModuleSpan& span, SymbolList functions = {});

    /// What stands at `address`, whose Thumb bit does not matter; null if it is in no function that
    /// is known. The pointer holds as long as this.
    const Location* at(std::uint32_t address);

    /// The function that a return to `address` goes into, so of the call in front of it, which may
    /// be the last instruction of the function. The offset is that of `address`.
    const Location* caller(std::uint32_t address);

private:
    const Location* find(std::uint32_t address, std::uint32_t step);

    std::multimap<Trust, std::unique_ptr<Source>> sources_;
    /// By the address that was looked up: odd ones are those of calls. Its elements stay in place.
    std::unordered_map<std::uint32_t, std::optional<Location>> found_;
};

/// In the same function.
bool same_function(const Location& left, const Location& right);

} // namespace mmioscope::symbols
