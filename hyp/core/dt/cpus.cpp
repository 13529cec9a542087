#include "dt/cpus.hpp"

#include "abi/ring.hpp"

namespace mmioscope {

namespace {

bool counts(const Tree& tree, int node) {
    return tree.is_type(node, "cpu") && !tree.failed(node);
}

/// The last cell is MPIDR. If there are two cells, the first one is zero on a 32-bit CPU.
unsigned number_of(const Tree& tree, int node) {
    const Property reg = tree.property(node, "reg");
    // A single CPU may have no `reg`.
    return reg.size < 4 ? 0 : reg.cell(reg.size / 4 - 1) & 0xff; // Aff0
}

} // namespace

BootError count_cpus(const Tree& tree, unsigned& count) {
    const int cpus = tree.find("/cpus");
    count = 0;
    for (int node = tree.first_child(cpus); node >= 0; node = tree.next_child(node))
        if (counts(tree, node)) ++count;
    if (count == 0 || count > abi::max_cpus)
        return {"the device tree has no CPU, or more than the hypervisor supports", ""};

    std::uint32_t seen = 0;
    for (int node = tree.first_child(cpus); node >= 0; node = tree.next_child(node)) {
        if (!counts(tree, node)) continue;
        const unsigned number = number_of(tree, node);
        if (number >= count)
            return {"the last bytes of the CPUs' reg (MPIDR) are not 0, 1, 2 ...: remove CPUs "
                    "that are not to run from /cpus; one beyond the others",
                    tree.name(node)};
        if ((seen >> number & 1) != 0)
            return {"two CPUs' reg (MPIDR) end with the same byte: only one cluster can run, "
                    "remove the others from /cpus; the second CPU is",
                    tree.name(node)};
        seen |= 1u << number;
    }
    return {};
}

} // namespace mmioscope
