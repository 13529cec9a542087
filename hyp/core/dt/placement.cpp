#include "dt/placement.hpp"

namespace mmioscope {

BootError check_place(const Tree& tree, const MemoryMap& memory, Range own) {
    const Range needed{own.begin - abi::guest_tree_room, own.end};
    bool inside = false;
    for (const Range& range : memory) inside |= range.contains(needed);
    if (!inside)
        return {"too little memory: hypervisor and trace area do not fit into the memory node", ""};
    const int reserved = tree.find("/reserved-memory");
    for (int node = tree.first_child(reserved); node >= 0; node = tree.next_child(node)) {
        Range range;
        for (unsigned i = 0; tree.reg(node, i, range); ++i)
            if (range.overlaps(needed))
                return {"reserved memory lies where the hypervisor does", tree.name(node)};
    }
    return {};
}

} // namespace mmioscope
