// The list of export formats.
#pragma once

#include "export/sink.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace mmioscope::exporting {

/// An exporter and its output.
class Destination {
public:
    virtual ~Destination() = default;
    virtual Exporter& exporter() = 0;
    virtual bool terminal() const { return false; }
    /// Makes everything so far readable, if the format is a stream of bytes. Throws Error.
    virtual void flush() {}
    /// All is exported: gives the output its name. Throws Error.
    virtual void finish() = 0;
};

struct Format {
    std::string_view name; ///< as --as takes it
    std::string_view help; ///< one line: what it is, or for whom
    /// Opens the output `path`; "-" is standard output, for formats that allow it. Throws Error
    /// (bad_input) if it cannot be written. Null: the format copies records instead of exporting
    /// events (part.hpp).
    std::unique_ptr<Destination> (*open)(const std::string& path);
};

/// All formats, in the order of --help.
std::span<const Format> formats();

/// Throws Error (bad_input) if no format has this name.
const Format& format_of(std::string_view name);

} // namespace mmioscope::exporting
