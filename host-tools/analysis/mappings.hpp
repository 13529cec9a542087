// Where devices are mapped, and by whom: which virtual page led to which physical one, and who was
// the first to use it.
#pragma once

#include "analysis/analyses.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mmioscope::analysis {

class Mappings final : public Analysis {
public:
    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override;

    /// A row for each mapping, in the order of their first use.
    table::Table table() const override;

private:
    struct Mapping {
        std::uint64_t first; ///< ns
        std::uint64_t accesses;
        std::string device;
        std::string function;
        std::string task;
    };
    /// Numbers of pages: of the virtual one in front, of the physical one in the low bits.
    using Pages = std::uint64_t;
    using All = std::map<Pages, Mapping>;
    Mapping& find(Pages pages, const Event& event);
    std::vector<const All::value_type*> in_order() const;

    static constexpr std::size_t most_recent = 64;

    All all_;
    /// One that was accessed lately.
    struct Recent {
        Pages pages = ~Pages{0}; ///< these are none
        Mapping* mapping = nullptr;
    };
    std::array<Recent, most_recent> recent_{}; ///< each where its pages lead to
};

} // namespace mmioscope::analysis
