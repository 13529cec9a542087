#include "dt/placement.hpp"

namespace mmioscope {

BootError check_place(const Tree& tree, const MemoryMap& memory, Range own) {
    const Range needed{own.begin - abi::guest_tree_room, own.end};
    constexpr const char* taken = "reserved memory lies where the hypervisor does";
    bool inside = false;
    for (const Range& range : memory) inside |= range.contains(needed);
    if (!inside)
        return {"too little memory: hypervisor and trace area do not fit into the memory node", ""};
    Range kept;
    const int reserved = tree.find("/reserved-memory");
    for (int node = tree.first_child(reserved); node >= 0; node = tree.next_child(node)) {
        auto place = tree.first_reg(node);
        while (tree.next_reg(place, kept))
            if (kept.overlaps(needed)) return {taken, tree.name(node)};
    }
    // U-Boot lists the tree itself, which is read and copied before its place is used.
    const std::uint64_t own_place = reinterpret_cast<std::uintptr_t>(tree.blob());
    for (unsigned n = 0; tree.reserved(n, kept); ++n)
        if (kept.begin != own_place && kept.overlaps(needed)) return {taken, "/memreserve/"};
    return {};
}

} // namespace mmioscope
