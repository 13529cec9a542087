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
    {"mappings", "Print which virtual page mapped which device page, and who used it first",
     make<Mappings>},
    {"pci", "Print PCI functions and their BARs", make<Pci>},
};

} // namespace

std::span<const AnalysisRow> analyses() {
    return rows;
}

} // namespace mmioscope::analysis
