// The PCI functions of a trace, and the lines of mmiotrace for them.
#pragma once

#include "analysis/pci_function.hpp"
#include "file/trace_reader.hpp"

#include <string>
#include <vector>

namespace mmioscope::exporting {

/// Whether one of the trace's devices is the configuration space of a PCI host bridge.
bool has_pci(const trace::TraceReader& reader);

/// The functions that the accesses to it show. Reads the file at `path` and, without `one_file`,
/// the files after it; only the head if the trace has no such device. Throws Error (bad_input) if
/// it is not a trace.
std::vector<analysis::PciFunction> pci_functions(const std::string& path, bool one_file);

/// A PCIDEV line, as in /proc/bus/pci/devices, with its line end. The driver is empty: it is
/// unknown.
std::string pci_line(const analysis::PciFunction& function);

/// The PCIDEV lines that an import kept in the trace's text (import/mmiotrace.cpp).
std::vector<std::string> kept_pci_lines(const trace::TraceReader& reader);

} // namespace mmioscope::exporting
