// Models how CPUs see each other's stores and loads of shared words (ARM ARM A3.8.3): others see a
// store at any later time, in any order except that of its word, until a barrier; a load may have
// happened at any time since the last barrier.
#pragma once

#include "random.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mmioscope::sim {

class WeakMemory {
public:
    /// `old_payload`: loads of structures may be old, too. `exclusives_fail_one_in`: exclusive
    /// pairs that fail though nothing disturbs them (A3.4.5); 0: none.
    WeakMemory(unsigned cpus, Random& random, bool old_payload, unsigned exclusives_fail_one_in)
        : cpus_(cpus), random_(random), old_payload_(old_payload),
          exclusives_fail_one_in_(exclusives_fail_one_in) {}

    /// One single-copy atomic access of `size` (4 or 8) bytes.
    void store(unsigned cpu, void* to, std::uint64_t value, unsigned size);
    /// STRD as an emulator may make it: two words, the lower one first.
    void store_halves(unsigned cpu, void* to, std::uint64_t value);
    /// Stores a part of a structure, like a word.
    void store_payload(unsigned cpu, void* to, std::uint32_t value);
    std::uint64_t load(unsigned cpu, const void* from, unsigned size);
    /// A successful exclusive pair: uses the word's actual value, not what this CPU may still see.
    bool exchange(unsigned cpu, std::uint32_t* word, std::uint32_t expected, std::uint32_t desired);

    /// DMB: stores before it are seen before those after it; loads after it happen after those
    /// before it. `counter_read`: a read of the counter, which is not a memory access, may still
    /// happen after both.
    void order(unsigned cpu, bool counter_read = false);
    /// DSB: stores before it are seen.
    void complete(unsigned cpu);
    /// One of `cpu`'s stores may become visible now.
    void drain_one(unsigned cpu);
    bool pending(unsigned cpu) const { return !cpus_[cpu].stores.empty(); }

private:
    struct Store {
        std::byte* to;
        std::uint64_t value;
        unsigned size;
        unsigned group; ///< barriers before it
        bool payload;
        bool second; ///< of store_halves(): it comes behind the first one

        bool overlaps(const void* word, unsigned bytes) const {
            const auto* begin = static_cast<const std::byte*>(word);
            return begin < to + size && to < begin + bytes;
        }
    };
    struct Cpu {
        std::vector<Store> stores; ///< in program order
        unsigned group{};
        std::uint64_t barrier{};                               ///< time of the last barrier
        std::uint64_t access{};                                ///< time of the last access
        std::unordered_map<const void*, std::uint64_t> seen{}; ///< coherence: no older value again
    };
    struct Version {
        std::uint64_t since;
        std::uint64_t value;
    };

    bool may_drain(const Cpu& cpu, std::size_t which) const;
    void drain(Cpu& cpu, std::size_t which);
    void remember(Cpu& cpu, const Store& store);
    void drain_groups_before(Cpu& cpu, unsigned group);
    void drain_word(Cpu& cpu, const void* word, unsigned size);

    std::vector<Cpu> cpus_;
    Random& random_;
    bool old_payload_;
    unsigned exclusives_fail_one_in_;
    std::uint64_t time_{1};
    std::unordered_map<const void*, std::vector<Version>> history_;
};

} // namespace mmioscope::sim
