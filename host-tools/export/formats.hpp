// The list of export formats.
#pragma once

#include "export/exporter.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

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

struct Format {
    std::string_view name; ///< as --to takes it
    std::string_view help; ///< one line: what it is, or for whom
    /// What writes it; `path`: "-" is standard output, for those that allow it. Throws Error
    /// (bad_input) if it cannot be written. Null: a trace is no export of events, but of records
    /// (part.hpp).
    std::unique_ptr<Destination> (*open)(const std::string& path);
};

/// All there are, in the order in which people are told of them.
std::span<const Format> formats();

/// Throws Error (bad_input) if there is none of that name.
const Format& format_of(std::string_view name);

} // namespace mmioscope::exporting
