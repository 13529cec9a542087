// Collects from the events of one boot what boots are compared by.
#pragma once

#include "analysis/threads.hpp"
#include "diff/boot.hpp"
#include "diff/last_reads.hpp"
#include "diff/last_writes.hpp"
#include "diff/open_bursts.hpp"
#include "diff/pairing.hpp"
#include "diff/sites.hpp"
#include "diff/stays.hpp"
#include "filter/filter.hpp"
#include "reading/consumer.hpp"
#include "reading/kept.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

namespace mmioscope::diff {

class Observer final : public reading::Consumer {
public:
    /// Fills `boot` with the accesses that match `wanted`; null: all. `renamed`: the names of its
    /// devices in the comparison. The other arguments outlive this.
    Observer(Sites& sites, Boot& boot, filter::Filter* wanted = nullptr, Renamed renamed = {})
        : sites_(sites), boot_(boot), wanted_(wanted), renamed_(std::move(renamed)),
          open_bursts_(boot) {}

    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override;
    void forget() override;

private:
    /// The parts of an access that determine its site.
    struct Key {
        std::uint64_t place = ~std::uint64_t{0}; ///< ids of the place and of the code
        std::uint64_t access = 0; ///< size and direction, and the address of code without a name
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return reading::mixed(key.place ^ reading::mixed(key.access)) >> 20;
        }
    };
    struct Known {
        std::uint32_t site = Sites::none;
        bool wanted = false;
        bool interrupt = false; ///< the access is about interrupts
    };

    static constexpr std::size_t most_known = 1 << 14;

    static Key key_of(const Event& event);
    const Known& known(const Event& event);
    Known make(const Event& event);
    void take(const Event& event);
    void pair(analysis::Thread thread, const abi::Record& record, Token token);
    std::uint32_t count(Use& use, const Event& event, std::uint32_t behind,
                        std::optional<std::uint64_t> read);

    Sites& sites_;
    Boot& boot_;
    filter::Filter* wanted_;
    Renamed renamed_;
    analysis::Threads threads_;
    LastWrites last_writes_;
    LastReads last_reads_;
    Stays stays_;
    OpenBursts open_bursts_;
    std::unordered_map<Key, Known, KeyHash> known_; ///< at most most_known
};

} // namespace mmioscope::diff
