// Reports the modules and functions of a running kernel while it is recorded.
#pragma once

#include "linux/task_layout.hpp"
#include "symbols/symbols.hpp"
#include "symbols/unwind.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::linux_guest {

// Reads the kernel's list of modules, with their functions.

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
    bool live;                        ///< otherwise it is being loaded or unloaded
    std::vector<AddressRange> text;   ///< includes its init functions while it is being loaded
    std::vector<AddressRange> memory; ///< all of it
    std::vector<Function> functions;
    symbols::UnwindTable frames{};
    /// Whether nothing but what read() sets differs.
    bool is_like(const Module& other) const {
        return name == other.name && base == other.base && size == other.size &&
               live == other.live && text == other.text && memory == other.memory;
    }
};

/// The offsets of the fields of `struct module` that are read. They are found as in
/// task_layout.hpp; up to the name they are the same since 2.6.
class ModuleReader {
public:
    explicit ModuleReader(const Kernel& kernel);

    /// The preferred area for modules, from which a call reaches the kernel (32 MiB). Modules
    /// without room there are in the vmalloc area.
    AddressRange area() const { return area_; }

    /// Addresses of all `struct module`; nothing if the list changed meanwhile, or does not exist.
    /// The first call searches the area.
    std::optional<std::vector<std::uint32_t>> modules();

    /// The module at `module`, without its functions; nothing if there is none, or if it is not set
    /// up yet.
    std::optional<Module> read(std::uint32_t module);
    /// How the frames of its `functions` are undone, as its memory says.
    symbols::UnwindTable frames(const Module& module) const;

    /// Its functions that are in `text`, as many as take `most_bytes` as text, counting what must
    /// be read for them. The limit is needed because the guest may make all its modules share one
    /// list of symbols.
    std::vector<Module::Function> functions(std::uint32_t module,
                                            const std::vector<AddressRange>& text,
                                            std::size_t most_bytes) const;

private:
    /// Where a struct module describes the memory with its text (up to 6.3: all of its memory).
    struct Layout {
        std::uint32_t memory;   ///< offset of its base; the size follows
        std::uint32_t kallsyms; ///< offset of the pointer to the symbols
        bool in_parts;          ///< there is an array of them, since 6.4
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

class ModuleWatch {
public:
    using Clock = std::chrono::steady_clock;

    /// `frames`: how the frames of modules are undone is reported, too.
    explicit ModuleWatch(const Kernel& kernel, bool frames = false)
        : reader_(kernel), frames_(frames) {}

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
    bool frames_;
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
