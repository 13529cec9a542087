// Where devices are mapped: which virtual page mapped which physical one, and who used it first.
#pragma once

#include "analysis/analyses.hpp"
#include "system/spilled_map.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mmioscope::analysis {

class Mappings final : public Analysis {
public:
    /// Keeps at most `most` mappings in memory, the others in temporary files.
    explicit Mappings(std::size_t most = 256) : most_(most), all_(most) {}

    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override;

    /// One row for each mapping, in the order of first use.
    table::Table table() override;

private:
    struct Mapping {
        std::uint64_t first = 0; ///< ns
        std::uint64_t accesses = 0;
        std::uint64_t piece = 0; ///< in pieces_; the first one tells who used it first
        std::string device;
        std::string function;
        std::string task;

        void add(const Mapping& other);
        std::string bytes_of() const;
        static Mapping of(std::string_view bytes);
    };
    /// Page numbers: the virtual one in the high bits, the physical one in the low bits.
    using Pages = std::uint64_t;
    Mapping& find(Pages pages, const Event& event);

    static constexpr std::size_t most_recent = 64;

    std::size_t most_;
    SpilledMap<Mapping> all_; ///< by Pages
    std::uint64_t pieces_ = 0;
    /// A recently accessed mapping.
    struct Recent {
        Pages pages = ~Pages{0}; ///< initially invalid
        Mapping* mapping = nullptr;
    };
    std::array<Recent, most_recent> recent_{}; ///< by hash of the pages
};

} // namespace mmioscope::analysis
