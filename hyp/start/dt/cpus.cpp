#include "dt/cpus.hpp"

#include "abi/ring.hpp"
#include "dt/board.hpp"

namespace mmioscope {

namespace {

/// The node of the first CPU behind `node`, or the first one of all; negative: there is none.
int next_cpu(const Tree& tree, int node = -1) {
    node = node < 0 ? tree.first_child(tree.find("/cpus")) : tree.next_child(node);
    while (node >= 0 && (!tree.is_type(node, "cpu") || tree.failed(node)))
        node = tree.next_child(node);
    return node;
}

/// The last cell has it. If there are two cells, the first one is zero on a 32-bit CPU. A single
/// CPU may have no `reg`.
std::uint32_t affinity_of(const Tree& tree, int node, std::uint32_t without) {
    const Property reg = tree.property(node, "reg");
    return reg.size < 4 ? without : reg.cell(reg.size / 4 - 1);
}

} // namespace

BootError read_cpus(const Tree& tree, std::optional<std::uint32_t> boot, arch::Clusters& out) {
    out = {};
    const int first = next_cpu(tree);
    if (first < 0) return {"the device tree has no CPU", ""};
    const std::uint32_t own = boot.value_or(affinity_of(tree, first, 0)) & 0xff00; // Aff1
    out.first = out.second = static_cast<std::uint8_t>(own >> 8);
    int other = -1; // first CPU of the other cluster
    for (int node = first; node >= 0; node = next_cpu(tree, node)) {
        const std::uint32_t affinity = affinity_of(tree, node, own);
        if (affinity > 0xffff)
            return {"a CPU's reg (MPIDR) has more than two levels, Aff1 and Aff0", tree.name(node)};
        const auto cluster = static_cast<std::uint8_t>(affinity >> 8);
        if (out.count() == abi::max_cpus)
            return {"more CPUs than the hypervisor supports", tree.name(node)};
        if (cluster == out.first) {
            ++out.first_cpus;
            continue;
        }
        if (out.second_cpus++ == 0) {
            out.second = cluster;
            other = node;
        }
        if (cluster != out.second)
            return {"the CPUs' reg (MPIDR) names more than two clusters", tree.name(node)};
    }
    const bool only = out.first_cpus == 0 || out.second_cpus == 0;
    if (only)
        out = {static_cast<std::uint8_t>(out.count()), out.first, 0,
               out.first_cpus == 0 ? out.second : out.first};
    // Without firmware the kernel joins the clusters' caches (a CCI), and Hyp comes before it.
    else if (psci_node(tree) < 0)
        return {"two clusters, and no PSCI firmware that starts CPUs: remove the other cluster's "
                "from /cpus",
                tree.name(other)};
    std::uint32_t seen = 0;
    for (int node = first; node >= 0; node = next_cpu(tree, node)) {
        const unsigned number = out.named(affinity_of(tree, node, own));
        if (number == out.count())
            return {"the last bytes of the CPUs' reg (MPIDR) are not 0, 1, 2 ... in each cluster: "
                    "remove CPUs that are not to run from /cpus; one beyond the others",
                    tree.name(node)};
        if ((seen >> number & 1) != 0)
            return {"two CPUs have the same reg (MPIDR); the second one is", tree.name(node)};
        seen |= 1u << number;
    }
    return {};
}

} // namespace mmioscope
