// Reads one boot's events into what boots are compared by.
#pragma once

#include "diff/boot.hpp"
#include "diff/sites.hpp"
#include "diff/threads.hpp"
#include "filter/filter.hpp"
#include "reading/consumer.hpp"
#include "reading/kept.hpp"

#include <cstdint>
#include <span>

namespace mmioscope::diff {

class Observer final : public reading::Consumer {
public:
    /// Fills `boot`. `wanted`: only accesses for which it holds; null: all. All outlive this.
    Observer(Sites& sites, Boot& boot, filter::Filter* wanted = nullptr)
        : sites_(sites), boot_(boot), wanted_(wanted) {}

    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override;
    void forget() override;

private:
    /// All of an access that its site depends on.
    struct Key {
        std::uint64_t place = ~std::uint64_t{0}; ///< its id, and the code's
        std::uint64_t access = 0;                ///< and the address of code without a name
        bool operator==(const Key&) const = default;
        std::uint64_t hash() const { return reading::mixed(place ^ access << 17) >> 40; }
    };
    struct Known {
        std::uint32_t site = Sites::none;
        bool wanted = false;
        bool interrupt = false; ///< it tells of one
    };

    static Key key_of(const Event& event);
    void make(Known& to, const Event& event);
    void take(const Event& event);
    void pair(const abi::Record& record, Token token);
    std::uint32_t count(Use& use, const Event& event);

    Sites& sites_;
    Boot& boot_;
    filter::Filter* wanted_;
    Threads threads_;
    reading::KeptByKey<Key, Known, 1024> known_;
};

} // namespace mmioscope::diff
