// What was learnt for contexts, of which few fit into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mmioscope::analysis {

/// How often something was right.
struct Share {
    std::uint32_t right = 0, all = 0;
};

/// The value of each context, by the context's hash. New ones displace those that were seldom
/// right.
class ContextTable {
public:
    static constexpr std::uint32_t most_run = 7;
    struct Slot {
        std::uint32_t tag = 0; ///< 0: unused
        std::uint32_t value = 0;
        std::uint32_t run = 0; ///< times in a row that this was right, up to `most_run`
        Share so_far;          ///< of the last cases
    };

    /// Null: nothing is known of it.
    const Slot* find(std::uint64_t key) const;
    /// The context gave this value.
    void learn(std::uint64_t key, std::uint32_t value);

private:
    static constexpr unsigned table_bits = 18;
    static constexpr std::uint32_t most_cases = 64; ///< of `so_far`
    static constexpr std::size_t ways = 4;

    std::vector<Slot> slots_ = std::vector<Slot>(std::size_t{1} << table_bits);
};

} // namespace mmioscope::analysis
