// Where devices are mapped, and by whom: which virtual page led to which physical one, and who was
// the first to use it.
#pragma once

#include "analysis/analyses.hpp"

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
    using All = std::map<std::pair<std::uint32_t, std::uint64_t>, Mapping>;
    std::vector<const All::value_type*> in_order() const;

    All all_; ///< by pages, virtual first
};

} // namespace mmioscope::analysis
