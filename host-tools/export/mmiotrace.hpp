// The text of Linux' mmiotrace, version 20070824 (Documentation/trace/mmiotrace.rst).
#pragma once

#include "analysis/pci.hpp"
#include "export/sink.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

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
    /// "12.000345"
    struct Time {
        std::uint64_t seconds;
        std::uint64_t micros;
    };

    Time time_of(const Event& event) const;
    std::uint64_t pc_of(const abi::Record& record) const {
        return record.pc == 0 ? 0 : pc_high_ | record.pc;
    }
    void add_pci(const trace::TraceReader& reader);
    void add_access(const Event& event);
    void add_mark(const Event& event);
    std::uint64_t mapping(const Event& event);
    struct Mapping {
        std::uint64_t page; ///< physical
        std::uint64_t id;
    };
    void unmap(const Event& event, std::uint64_t id);

    static constexpr std::size_t most_mappings = 4096; ///< more end all

    Sink& sink_;
    std::map<std::uint64_t, Mapping> mappings_; ///< by virtual page; without one, the physical
    std::uint64_t ids_ = 0;
    bool absolute_ = false;       ///< times are the log's own, which the trace was imported from
    std::uint32_t frequency_ = 0; ///< of its clock, Hz
    std::uint64_t pc_high_ = 0;   ///< bits 63:32 of the addresses of code
    std::optional<std::vector<analysis::PciFunction>> pci_; ///< nothing: not looked for
    bool pci_missing_ = false;    ///< there may be some, but they were not looked for
    std::uint64_t estimated_ = 0; ///< accesses whose time is an estimate
    std::uint64_t unknown_ = 0;   ///< accesses without a value
    std::uint64_t wide_ = 0;      ///< accesses of more than 8 bytes
    std::uint64_t others_ = 0;    ///< records that are neither accesses of the guest nor text
};

} // namespace mmioscope::exporting
