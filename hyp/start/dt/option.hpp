// One option of the hypervisor in the device tree.
#pragma once

#include "dt/tree.hpp"

#include <cstring>

namespace mmioscope {

/// A value that an option may have, and its word.
struct Word {
    const char* text;
    std::uint32_t value;
};

inline constexpr Word switches[] = {{"off", 0}, {"on", 1}};

/// Sets `out` to the value of the word in `property`. False: an unknown word. If the property is
/// absent, `out` stays as it is.
template <class T, std::size_t N>
bool read_word(const Tree& tree, int node, const char* property, const Word (&words)[N], T& out) {
    if (!tree.has(node, property)) return true;
    const char* text = tree.text(node, property);
    for (const Word& w : words)
        if (text != nullptr && std::strcmp(text, w.text) == 0) {
            out = static_cast<T>(w.value);
            return true;
        }
    return false;
}

/// Sets `out` to the one cell in `property`. If the property is absent, `out` stays as it is.
template <class T>
BootError read_cell(const Tree& tree, int node, const char* property, T& out) {
    const Property found = tree.property(node, property);
    if (found && found.size != 4) return {"an option must be one cell", property};
    if (found) out = found.cell(0);
    return {};
}

/// Sets `out` to the node whose path or alias is in `property`. If the property is absent, `out`
/// stays as it is.
inline BootError read_node(const Tree& tree, int chosen, const char* property,
                           const char* if_unknown, int& out) {
    if (!tree.has(chosen, property)) return {};
    const char* name = tree.text(chosen, property);
    out = name != nullptr ? tree.find(name) : -1;
    return out >= 0 ? BootError{} : BootError{if_unknown, name != nullptr ? name : "", true};
}

} // namespace mmioscope
