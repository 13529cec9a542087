// Where the sections of an ELF file lie in memory.
#pragma once

#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmioscope::symbols {

class ElfSections {
public:
    struct Section {
        std::size_t index;
        std::string name;
        std::uint32_t in_file; ///< its address there, or where libdw has put it
        std::uint32_t size;
        std::uint32_t alignment;
        bool code;
        std::optional<std::uint32_t> address; ///< in memory; nothing: not placed
    };

    ElfSections() = default;
    /// The sections that take memory. `elf` has its addresses, or those that libdw has put there.
    explicit ElfSections(Elf* elf);

    bool relocatable() const { return relocatable_; }

    /// As Linux lays out a module (kernel/module/main.c, layout_sections): code first, in the order
    /// of the file, without what is only there until it has been started.
    void place_module(std::uint32_t base);

    const Section* by_index(std::size_t index) const;
    /// The placed section of code that holds `address`.
    const Section* holding(std::uint32_t address) const;

private:
    bool relocatable_ = false;
    std::vector<Section> sections_;
};

} // namespace mmioscope::symbols
