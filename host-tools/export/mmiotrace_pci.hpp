// The PCI functions of a trace, and the lines of mmiotrace for them.
#pragma once

#include "analysis/pci_function.hpp"
#include "file/trace_reader.hpp"

#include <string>
#include <vector>

namespace mmioscope::exporting {

/// One of the trace's devices is the configuration space of a PCI host bridge.
bool has_pci(const trace::TraceReader& reader);

/// What all accesses to it tell. Reads the file at `path`, with those behind it unless only
/// `one_file` is wanted, but its head only where it has no such device. Throws Error (bad_input) if
/// it is no trace.
std::vector<analysis::PciFunction> pci_functions(const std::string& path, bool one_file);

/// PCIDEV: as /proc/bus/pci/devices has it, with a line end. No driver: nobody knows it.
std::string pci_line(const analysis::PciFunction& function);

/// Those lines that an import kept in the trace's text (import/mmiotrace.cpp).
std::vector<std::string> kept_pci_lines(const trace::TraceReader& reader);

} // namespace mmioscope::exporting
