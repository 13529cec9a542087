#include "analysis/analyses.hpp"

#include "analysis/mappings.hpp"
#include "analysis/pci.hpp"

namespace mmioscope::analysis {

namespace {

template <typename Kind>
std::unique_ptr<Analysis> make() {
    return std::make_unique<Kind>();
}

constexpr AnalysisRow rows[] = {
    {"mappings", "Which virtual page led to which physical one, and who used it first",
     make<Mappings>},
    {"pci", "PCI functions and their BARs", make<Pci>},
};

} // namespace

std::span<const AnalysisRow> analyses() {
    return rows;
}

} // namespace mmioscope::analysis
