// The formats there are, by name.
#pragma once

#include "export/exporter.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::exporting {

/// An exporter with what it writes to.
class Destination {
public:
    virtual ~Destination() = default;
    virtual Exporter& exporter() = 0;
    virtual bool terminal() const { return false; }
    /// What was exported so far can be read, where the format is one of bytes. Throws Error.
    virtual void flush() {}
    /// All was exported: what was written takes its name. Throws Error.
    virtual void finish() = 0;
};

/// "jsonl", ...
std::vector<std::string> format_names();

/// `format`: one of format_names(). `path`: "-" is standard output, for those that allow it. Throws
/// Error (bad_input) if it cannot be written.
std::unique_ptr<Destination> open_destination(std::string_view format, const std::string& path);

} // namespace mmioscope::exporting
