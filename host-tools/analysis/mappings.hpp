// Where devices are mapped: which virtual page mapped which physical one, and who used it first.
#pragma once

#include "analysis/analyses.hpp"
#include "system/capped_map.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace mmioscope::analysis {

class Mappings final : public Analysis {
public:
    explicit Mappings(std::size_t most = 256) : all_(most) {}

    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override;

    /// One row for each mapping, in the order of first use.
    table::Table table() override;

private:
    struct Mapping {
        std::uint64_t first = 0; ///< ns
        std::uint64_t accesses = 0;
        std::string device;
        std::string function;
        std::string task;
    };
    /// Page numbers: the virtual one in the high bits, the physical one in the low bits.
    using Pages = std::uint64_t;
    Mapping& find(Pages pages, const Event& event);

    static constexpr std::size_t most_recent = 64;

    CappedMap<std::map<Pages, Mapping>> all_;
    /// A recently accessed mapping.
    struct Recent {
        Pages pages = ~Pages{0}; ///< initially invalid
        Mapping* mapping = nullptr;
    };
    std::array<Recent, most_recent> recent_{}; ///< by hash of the pages
};

} // namespace mmioscope::analysis
