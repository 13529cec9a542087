#include "export/mmiotrace_pci.hpp"

#include "analysis/pci.hpp"
#include "import/pcidev.hpp"
#include "reading/drive.hpp"

#include <fmt/format.h>

namespace mmioscope::exporting {

bool has_pci(const trace::TraceReader& reader) {
    for (std::size_t i = 0; i < reader.regions().size(); ++i) {
        if (analysis::is_pci_configuration(reader.names()[static_cast<std::uint16_t>(i)])) {
            return true;
        }
    }
    return false;
}

// Does not report damage: that is done when the events are read.
std::vector<analysis::PciFunction> pci_functions(const std::string& path, bool one_file) {
    reading::TraceOptions options;
    options.path = path;
    options.one_file = one_file;
    options.report = [](const std::string&) {};
    reading::Trace trace(options);
    analysis::Pci pci;
    if (has_pci(trace.reader())) {
        reading::drive(trace, {&pci});
    }
    return pci.functions();
}

std::string pci_line(const analysis::PciFunction& function) {
    std::string line = fmt::format("PCIDEV {:04x} {:04x}{:04x} {:x}", function.place,
                                   function.vendor, function.device, function.interrupt);
    for (const analysis::PciRange& range : function.ranges) {
        line += fmt::format(" {:x}", range.base | range.kind);
    }
    for (const analysis::PciRange& range : function.ranges) {
        line += fmt::format(" {:x}", range.size);
    }
    return line + " \n";
}

std::vector<std::string> kept_pci_lines(const trace::TraceReader& reader) {
    std::vector<std::string> lines;
    for (const auto& [key, value] : reader.text()) {
        if (key.starts_with(importing::pci_key)) {
            lines.push_back(fmt::format("PCIDEV {} {}\n", key.substr(importing::pci_key.size()), value));
        }
    }
    return lines;
}

} // namespace mmioscope::exporting
