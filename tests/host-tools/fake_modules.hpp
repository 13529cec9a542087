// A kernel with modules in RAM, with either layout of struct module.
#pragma once

#include "fake_kernel.hpp"

namespace mmioscope::test {

/// Modules in a FakeKernel, 4 pages each: text, data with struct module, symbols.
struct FakeModules {
    static constexpr std::uint32_t head = FakeKernel::linear + 0x1'0000;
    static constexpr std::uint32_t memory = 0x100, kallsyms = 0x240;

    explicit FakeModules(bool parts)
        : kernel(parts ? FakeKernel::Format::short_descriptors
                       : FakeKernel::Format::long_descriptors),
          in_parts(parts) {
        kernel.boot();
        kernel.set(head, head);
        kernel.set(head + 4, head);
    }

    static std::uint32_t base(std::uint32_t slot) { return FakeKernel::modules + slot * 0x4000; }
    static std::uint32_t address(std::uint32_t slot) { return base(slot) + 0x1080; }

    void put(std::uint32_t at, const std::string& text) {
        for (std::uint32_t i = 0; i <= text.size(); ++i) {
            const std::uint32_t word = (at + i) & ~3u, shift = (at + i) % 4 * 8;
            const std::uint32_t byte = i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0;
            kernel.set(word, (kernel.word(word) & ~(0xffu << shift)) | byte << shift);
        }
    }

    /// Live, with functions NAME_a at the start of its text and NAME_b 0x100 after that.
    void load(std::uint32_t slot, const std::string& name) {
        const std::uint32_t at = address(slot), start = base(slot);
        const std::uint32_t first = kernel.word(head);
        kernel.set(at, 0);
        kernel.set(at + 4, first);
        kernel.set(at + 8, head);
        kernel.set(first + 4, at + 4);
        kernel.set(head, at + 4);
        put(at + 12, name);
        kernel.set(at + 12 + 60 + 36, at); // mkobj.mod
        const std::uint32_t sizes[7] = {0x1000, 0x2000, 0x1000, 0, 0, 0, 0};
        for (std::uint32_t part = 0; part < (in_parts ? 7 : 2); ++part) {
            const std::uint32_t to = at + memory + part * (in_parts ? 36 : 48);
            kernel.set(to, in_parts ? (sizes[part] != 0 ? start + part * 0x1000 : 0)
                                    : (part == 0 ? start : 0));
            kernel.set(to + 4, in_parts ? sizes[part] : (part == 0 ? 0x4000 : 0));
            if (!in_parts) {
                kernel.set(to + 8, part == 0 ? 0x1000 : 0);
            }
            kernel.set(to + (in_parts ? 8 : 20), at);
        }
        symbols(slot, {{start, 't', name + "_a"},
                       {start + 0x100, 'T', name + "_b"},
                       {start, 't', "$a"},
                       {start + 0x1000, 'd', "data"},
                       {start + 0x8000, 't', "elsewhere"}});
    }

    void unload(std::uint32_t slot) {
        const std::uint32_t at = address(slot);
        kernel.set(kernel.word(at + 8), kernel.word(at + 4));
        kernel.set(kernel.word(at + 4) + 4, kernel.word(at + 8));
    }

    struct Symbol {
        std::uint32_t address;
        char type;
        std::string name;
    };
    void symbols(std::uint32_t slot, const std::vector<Symbol>& all) {
        const std::uint32_t table = base(slot) + 0x2000, names = table + 0x400,
                            types = table + 0x800;
        const std::uint32_t to = address(slot) + kallsyms;
        const auto count = static_cast<std::uint32_t>(all.size()) + 1;
        const std::uint32_t words[] = {to + 4, table, count, names, types};
        for (std::uint32_t i = 0; i < 5; ++i) {
            kernel.set(to + 4 * i, words[i]);
        }
        for (std::uint32_t i = 0; i < 16; i += 4) {
            kernel.set(table + i, 0);
        }
        put(names, "");
        std::uint32_t free = 1;
        std::string letters = "-";
        for (std::uint32_t i = 1; i < count; ++i) {
            kernel.set(table + i * 16, free);
            kernel.set(table + i * 16 + 4, all[i - 1].address);
            put(names + free, all[i - 1].name);
            free += static_cast<std::uint32_t>(all[i - 1].name.size()) + 1;
            letters += all[i - 1].type;
        }
        put(types, letters);
    }

    FakeKernel kernel;
    bool in_parts;
};

} // namespace mmioscope::test
