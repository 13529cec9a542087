// What the CPUs do with one register, or with one page: who else uses it, how close in time, and
// whether what is written is ever read.
#pragma once

#include "mmioscope/event.hpp"
#include "system/capped_map.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace mmioscope::analysis {

/// Keeps `event` without the ids of its names: a copy that stays valid, and is named when it is
/// asked.
inline void keep_unnamed(Event& kept, const Event& event) {
    kept = event;
    kept.ids = {};
    kept.context_number = 0;
}
inline Event unnamed(const Event& event) {
    Event kept;
    keep_unnamed(kept, event);
    return kept;
}

/// Whether each CPU has a register of its own at this address: those of a GIC's CPU interface, and
/// its distributor's for interrupts below 32 (IHI 0048B 4.1.4). Null: no.
bool is_banked(const Register* reg);

/// The accesses to one register, or to one page.
struct Use {
    static constexpr std::uint64_t never = ~std::uint64_t{0};

    std::bitset<256> cpus; ///< by number: those that used it
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t closest = never;     ///< ns; between accesses of two CPUs. never: not known
    Event earlier, later;              ///< those of two CPUs that were closest
    Event last;                        ///< access; a write if it is never read back
    std::uint64_t first_write = never; ///< Event::number
    std::uint64_t last_read = 0;       ///< Event::number

    bool is_shared() const { return cpus.count() > 1; }
    bool is_never_read_back() const { return first_write != never && last_read < first_write; }
    /// The access to show for a shared one.
    const Event& shared_at() const { return later.number != 0 ? later : last; }
};

/// The uses of things of a size, such as registers.
class SharedUses {
public:
    /// A thing is 2^`shift` bytes. Looks at the first `most`.
    SharedUses(unsigned shift, std::size_t most) : shift_(shift), live_(most) {}

    /// Adds an access. Returns false, and counts nothing, if it is to what each CPU has for itself.
    bool add(const Event& event);
    /// What comes is not next to what came: accesses were lost.
    void cut();
    /// Calls `take` with each thing.
    template <typename Take>
    void each(const Take& take) const {
        for (const auto& [thing, live] : live_.held()) {
            take(live.use);
        }
    }
    /// Accesses to things beyond the first most().
    std::uint64_t left_out() const { return live_.rest().use.reads + live_.rest().use.writes; }
    std::size_t most() const { return live_.most(); }

private:
    struct Live {
        Live() {} // what a map makes is zeroed first, unless it has a constructor
        Use use;
        bool used = false;
        bool banked = false; ///< each CPU has its own
        bool follows = true; ///< what comes is next to what came
    };

    unsigned shift_;
    CappedMap<std::unordered_map<std::uint64_t, Live>> live_; ///< by address >> shift_
};

// Interrupts that a CPU acknowledged and never ended. docs/sharing.md defines it.

/// Whether this read of a GIC (GICC_IAR or GICC_AIAR, IHI 0048B 4.4) gave the CPU an interrupt.
bool acknowledges_interrupt(const Event& event);

class OpenInterrupts {
public:
    /// An interrupt was never ended: the read that acknowledged it.
    using Take = std::function<void(const Event& acknowledge)>;

    explicit OpenInterrupts(Take take) : take_(std::move(take)) {}

    /// The next record. Returns whether it acknowledges an interrupt.
    bool add(const Event& event);
    /// What comes does not follow from what came: accesses were lost.
    void cut();
    /// The trace is over.
    void finish();

private:
    struct Open {
        Event acknowledge;
        bool left = false; ///< the CPU has gone on with something else
    };
    /// More nested ones than this are forgotten.
    static constexpr std::size_t most_nested = 16;

    void acknowledge(const Event& event);
    void end(const abi::Record& record);
    void power(const abi::Record& record);

    Take take_;
    std::array<std::vector<Open>, 256> open_; ///< by CPU, the innermost last
};

} // namespace mmioscope::analysis
