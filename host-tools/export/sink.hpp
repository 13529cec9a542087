// Formats the text of an export into a buffer, and writes the buffer when it is full.
#pragma once

#include "file/trace_reader.hpp"
#include "reading/drive.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::exporting {

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

} // namespace mmioscope::exporting
