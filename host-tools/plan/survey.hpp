// What the hypervisor makes of a board's device tree: its own code (hyp/start/dt/) reads it, so
// this finds what the boot would.
#pragma once

#include "board/board.hpp"
#include "dt/regions.hpp"
#include "dt/tree.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::plan {

/// One reason why the board cannot be traced.
struct Fault {
    std::string_view
        kind;         ///< one word or two for all faults of its kind, docs/boards.md lists them
    std::string node; ///< path; empty: of no single node
    std::string text;
};

struct Survey {
    /// Reads `blob`. Throws Error (bad_input) if it is not a device tree that the hypervisor reads:
    /// damaged, or larger than abi::max_tree_size. `memory`: the board's, for trees that do not say
    /// its size; it replaces the tree's. `at_top`: the hypervisor goes to the memory's end, where
    /// it leaves the guest one piece.
    explicit Survey(std::span<const std::byte> blob, const std::optional<Range>& memory = {},
                    bool at_top = false);

    std::string path(int node) const;
    /// Whether something is known that starts the CPUs after the first one.
    bool starts_cpus() const;
    /// Whether it may be entered in Secure Supervisor mode, too (boot/boot.cpp).
    bool secure_will_do() const { return !board.psci && starts_cpus(); }

    std::vector<std::uint64_t> storage; ///< of the tree
    Tree tree;
    RegionTable regions;
    RegionMap map; ///< as `trace all` would have it
    MemoryMap memory;
    int beyond_reach = -1; ///< node of a device above 4 GiB; negative: there is none
    Board board{};
    int gic = -1; ///< node of board.gic_distributor; negative: none
    std::vector<int> cpus;
    Range own;              ///< what the hypervisor hides from the guest; empty: no place is known
    std::uint64_t load = 0; ///< where the boot loader puts its image, which goes to `own` by itself
    std::vector<Fault> faults;

private:
    void read_cpus();
    void read_devices();
    void read_memory(const std::optional<Range>& given);
    void read_board();
    void add_unknown_uart();
    void find_low();
    void find_top();
    void apply_place();
    void find_wrong_cells();
    void find_cycles();
    void add(std::string_view kind, const BootError& error);
};

/// Addresses that images of the hypervisor are linked for, in ascending order.
std::vector<std::uint64_t> image_bases();

} // namespace mmioscope::plan
