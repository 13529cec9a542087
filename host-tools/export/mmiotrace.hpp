// The text of Linux' mmiotrace, version 20070824 (Documentation/trace/mmiotrace.rst).
#pragma once

#include "analysis/pci_function.hpp"
#include "export/exporter.hpp"
#include "export/page_mappings.hpp"
#include "export/sink.hpp"

#include <optional>

namespace mmioscope::exporting {

class Mmiotrace : public Exporter {
public:
    explicit Mmiotrace(Sink& sink) : sink_(sink) {}

    void look_ahead(const std::string& path, bool one_file) override;
    void begin(const trace::TraceReader& reader) override;
    void add(const Event& event) override;
    void finish() override;
    std::vector<std::string> left_out() const override;

private:
    void add_pci(const trace::TraceReader& reader);
    void add_access(const Event& event);
    void add_mark(const Event& event);
    std::uint64_t mapping(const Event& event);

    Sink& sink_;
    PageMappings mappings_; ///< by the virtual page, or the physical one if there is none
    std::uint64_t ids_ = 0;
    std::optional<std::vector<analysis::PciFunction>> pci_; ///< nothing: not looked for
    bool pci_missing_ = false;    ///< there may be some, but they were not looked for
    std::uint64_t estimated_ = 0; ///< accesses whose time is an estimate
    std::uint64_t unknown_ = 0;   ///< accesses without a value
    std::uint64_t wide_ = 0;      ///< accesses of more than 8 bytes
    std::uint64_t others_ = 0;    ///< records that are neither accesses of the guest nor text
};

} // namespace mmioscope::exporting
