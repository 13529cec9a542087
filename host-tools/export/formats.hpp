// The list of export formats.
#pragma once

#include "file/trace_reader.hpp"
#include "reading/drive.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::exporting {

// Formats the text of an export into a buffer, and writes the buffer when it is full.

class Sink {
public:
    /// `fd` belongs to the caller; `name` is its name in errors. The destructor does not write the
    /// rest: call flush().
    Sink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

    /// Append to this, and call settle() after each event.
    fmt::memory_buffer& text() { return text_; }
    void put(std::string_view words) { text_.append(words); }

    /// Writes the buffer if it is full enough. Throws Error (failed).
    void settle() {
        if (text_.size() >= enough) {
            flush();
        }
    }
    void flush();

private:
    static constexpr std::size_t enough = 1 << 15;

    int fd_;
    std::string name_;
    fmt::memory_buffer text_;
};

// Interface of the formats that a trace is exported to.

class Exporter : public reading::Consumer {
public:
    /// The trace is a file at `path`, which the format may read once more to write a head that
    /// depends on all of it. Called before begin(); not called if the trace can be read only once.
    virtual void look_ahead(const std::string& /*path*/, bool /*one_file*/) {}

    /// Writes what comes before the events. Called once, first. `reader` outlives this.
    virtual void begin(const trace::TraceReader& reader) = 0;

    /// See Consumer. A loss is an event of type `gap`: `value` records of its CPU are missing, from
    /// `cpu_sequence` on.
    void add(const Event& event) override = 0;

    /// Adds the first event, with a text of words `key=value`.
    void add_derived(const DerivedEvent& derived) override;

    /// After the last event: `reader` knows the losses and how the recording ended. Throws Error if
    /// the output is incomplete.
    void finish() override = 0;

    /// What this format could not express, one line each. Call it after finish().
    virtual std::vector<std::string> left_out() const { return {}; }
};

// The formats with a file of their own.

/// Writes to `path`, an empty file, whose name in errors is `name`.
std::unique_ptr<Exporter> make_sqlite(const std::string& path, const std::string& name);
/// Fills `folder`, whose name in errors is `name`.
std::unique_ptr<Exporter> make_ctf(const std::filesystem::path& folder, const std::string& name);
std::unique_ptr<Exporter> make_perfetto(Sink& sink);
std::unique_ptr<Exporter> make_mmiotrace(Sink& sink);

/// Whether replacing `folder` loses nothing: it is empty, or holds only a CTF trace as this program
/// writes it.
bool is_ctf_trace(const std::filesystem::path& folder);

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
