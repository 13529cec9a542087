// Reads the kernel's list of modules, with their functions.
#pragma once

#include "linux/task_layout.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::linux_guest {

struct AddressRange {
    std::uint32_t base;
    std::uint32_t size;

    bool has(std::uint32_t address) const { return address - base < size; }
    bool operator==(const AddressRange&) const = default;
};

struct Module {
    struct Function {
        std::uint32_t address;
        char type; ///< as in /proc/kallsyms: t, T, w, W
        std::string name;
        bool operator==(const Function&) const = default;
    };

    std::string name;
    std::uint32_t base; ///< this and `size` as in /proc/modules
    std::uint32_t size;
    bool live;                      ///< else it is being loaded or unloaded
    std::vector<AddressRange> text; ///< while it is being loaded, of its init functions, too
    std::vector<Function> functions;
    bool operator==(const Module&) const = default;
};

/// Where `struct module` has what is read of it, which is found as in task_layout.hpp. In front of
/// the name it has been the same since 2.6.
class ModuleReader {
public:
    explicit ModuleReader(const Kernel& kernel);

    /// Where modules are linked to: their calls into the kernel reach 32 MiB. What finds no room
    /// here is in the vmalloc area.
    AddressRange area() const { return area_; }

    /// Addresses of all `struct module`; nothing if the list changed meanwhile, or is none. The
    /// first time the area is looked through.
    std::optional<std::vector<std::uint32_t>> modules();

    /// The one at `module`, without its functions; nothing if that is none, or not set up yet.
    std::optional<Module> read(std::uint32_t module);

    /// Those of its functions that are in `text`: as many as, with what is read for them, take
    /// `most_bytes` as text. The guest may have all its modules share one list of symbols.
    std::vector<Module::Function> functions(std::uint32_t module,
                                            const std::vector<AddressRange>& text,
                                            std::size_t most_bytes) const;

private:
    /// Of the memory that the text is in, up to 6.3 with all the rest.
    struct Layout {
        std::uint32_t memory;   ///< offset of its base, with the size behind it
        std::uint32_t kallsyms; ///< offset of the pointer to the symbols
        bool in_parts;          ///< an array of them, since 6.4
    };

    std::optional<std::uint32_t> word(std::uint32_t at) const { return space_.word(at); }
    bool is_module(std::uint32_t at) const;
    std::optional<std::uint32_t> look_for_one() const;
    bool has_memory(std::uint32_t module, std::uint32_t offset, bool in_parts) const;
    bool are_symbols(std::uint32_t at) const;
    std::optional<Layout> layout_of(std::uint32_t module) const;

    AddressSpace space_;
    AddressRange area_;
    std::uint32_t head_ = 0; ///< of the list
    std::optional<Layout> layout_;
};

} // namespace mmioscope::linux_guest
