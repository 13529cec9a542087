// The guest's translation, stage 1 and stage 2, through TLBs that keep as much as they may: leaves
// of each stage and of both combined, and the tables on the way, each by its VMID, until an
// invalidation covers it (ARM ARM B3.9, B3.10). Faults are not kept.
#pragma once

#include "stage2.hpp"

#include <map>
#include <tuple>

namespace mmioscope::sim {

/// What translation depends on.
struct Regime {
    std::uint64_t vttbr{};
    bool stage1{}; ///< the guest's MMU is on (SCTLR.M)
    std::uint32_t ttbr0{};
    std::uint8_t asid{};

    std::uint64_t vmid() const { return vttbr >> 48; }
};

/// The result for an address.
struct Route {
    enum class Stop { none, stage1, walk, stage2 };
    Stop stop{Stop::none};  ///< where it stops: `walk` is stage 2 under a stage-1 walk
    std::uint32_t ipa{};    ///< of the access; of the descriptor if a walk was stopped
    std::uint32_t status{}; ///< of a stage-1 fault, short-descriptor format
    Translation leaf{};     ///< stage 2's
    std::uint64_t filled{}; ///< when the oldest of its sources was read
    unsigned asid{};        ///< it belongs to; `global`
    bool normal{};          ///< stage 1's memory type; otherwise Strongly-ordered or Device
};

inline constexpr unsigned global = 0x100;

/// What a TLB maintenance operation covers.
struct Invalidation {
    enum class What { everything, vmid, address, address_any_asid, asid };
    What what{What::everything};
    std::uint64_t vmid{};
    std::uint32_t va{};
    unsigned asid{};
    bool by_hyp{};          ///< otherwise it keeps results of stage 2 alone
    std::uint64_t issued{}; ///< when

    bool covers(std::uint64_t vmid, unsigned asid, std::uint32_t page) const;
};

class Tlb {
public:
    explicit Tlb(const WalkedMemory& memory) : memory_(memory) {}

    /// Translates `va` at time `now`, from kept entries, or by a walk whose results are kept.
    Route translate(const Regime& regime, std::uint32_t va, std::uint64_t now);
    void forget(const Invalidation& what);
    /// TLBs are finite: entries for `va` may go at any time.
    void evict(const Regime& regime, std::uint32_t va);

private:
    using PageKey = std::tuple<std::uint64_t, std::uint64_t>;           ///< VMID, page or block
    using AsidKey = std::tuple<std::uint64_t, unsigned, std::uint32_t>; ///< and ASID
    struct Table {
        std::uint64_t at;
        std::uint64_t filled;
    };

    Route second_stage(std::uint64_t vttbr, std::uint32_t ipa, std::uint64_t now);
    Route first_stage(const Regime& regime, std::uint32_t va, std::uint64_t now);
    /// Reads the descriptor at `ipa` through stage 2. False: `route` has the reason.
    bool read_descriptor(const Regime& regime, std::uint32_t ipa, std::uint64_t now,
                         std::uint32_t& descriptor, Route& route);
    /// What stage 1's leaf has besides the address.
    struct Leaf {
        bool not_global;
        bool normal;
    };
    Route leaf_of(const Regime& regime, std::uint32_t va, std::uint32_t ipa, Leaf leaf,
                  std::uint64_t filled, std::uint64_t now);

    WalkedMemory memory_;
    std::map<PageKey, Route> stage2_leaves_;    ///< by IPA
    std::map<PageKey, Table> stage2_tables_[4]; ///< of level 2 and 3, by 1 GiB and 2 MiB of IPA
    std::map<AsidKey, Route> leaves_;           ///< by VA
    std::map<AsidKey, Table> stage1_tables_;    ///< second-level, by 1 MiB of VA
};

} // namespace mmioscope::sim
