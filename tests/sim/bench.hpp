// A machine with memory and no program: for tests that call the hypervisor's parts directly.
#pragma once

#include "mm/translation_table.hpp"
#include "simulation.hpp"

namespace mmioscope::sim {

struct Bench {
    static constexpr std::uint64_t pool_begin = 0x8200'0000;

    Simulation simulation{Conditions{}};

    /// A pool of `tables` in simulated memory, filled with ones, as memory may be at boot.
    TablePool pool(unsigned tables) {
        std::byte* memory = simulation.ram.at({pool_begin});
        std::memset(memory, 0xff, tables * page_size);
        return {reinterpret_cast<lpae::Descriptor*>(memory), tables};
    }
    /// A root of `pool` that maps nothing.
    static lpae::Descriptor* root(TablePool& pool) {
        lpae::Descriptor* const root = pool.take();
        TranslationTable(root).invalidate_root();
        return root;
    }
    /// The result of a CPU's own walk for `address`, independent of the hypervisor's lookup().
    Translation translate(const TranslationTable& table, std::uint64_t address) const {
        return walk(simulation.ram, table.root().value, address);
    }
};

} // namespace mmioscope::sim
