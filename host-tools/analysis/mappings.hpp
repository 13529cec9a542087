// Where devices are mapped, and by whom: which virtual page led to which physical one, and who was
// the first to use it.
#pragma once

#include "analysis/analyses.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::analysis {

class Mappings final : public Analysis {
public:
    void add(const Event& event) override;

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
    using Pages = std::pair<std::uint32_t, std::uint64_t>; ///< virtual, physical
    using All = std::map<Pages, Mapping>;
    std::vector<const All::value_type*> in_order() const;

    static constexpr std::size_t most_recent = 64;

    All all_;
    /// Some that were accessed last, each where its pages lead to; null: none yet.
    std::array<All::value_type*, most_recent> recent_{};
};

} // namespace mmioscope::analysis
