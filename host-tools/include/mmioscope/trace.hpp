// Reads a trace file event by event. This is the header for programs of your own.
//
//   mmioscope::TraceFile trace("boot.mmio");
//   while (const mmioscope::Event* event = trace.next()) ...
//   if (!trace.complete()) puts(trace.verdict().c_str());
//
// All functions throw mmioscope::Error (mmioscope/error.hpp).
// Compile with `pkg-config --cflags --libs mmioscope`, as C++20.
#pragma once

#include "abi/container.hpp"
#include "mmioscope/error.hpp"
#include "mmioscope/event.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mmioscope {

/// Which events to read, where names come from, and where damage is reported.
struct TraceFileOptions {
    std::optional<std::uint64_t> from = {};  ///< nanoseconds since the first record: this and later
    std::optional<std::uint64_t> to = {};    ///< nanoseconds since the first record: before this
    std::set<unsigned> cpus = {};            ///< their events, and all markers; empty: all
    std::string filter = {};                 ///< as of `print -F`, mmioscope-filter(7); empty: all
    std::vector<std::string> symbols = {};   ///< files, as of `print --symbols`
    std::vector<std::string> registers = {}; ///< files, as of `print --registers`
    std::string device_tree = {};            ///< a blob, for a trace without one; empty: none
    bool one_file = false; ///< do not read the files that follow this one (`record --rotate`)
    /// Of a file that is being written: next() waits at its end until it grows or is finished.
    bool follow = false;
    /// Called with one line for each damaged part; default: prints it on standard error.
    std::function<void(const std::string&)> report = {};
    /// Called now and then while no chosen event is found, and every 100 ms while next() waits:
    /// true makes next() return null. The next call of it goes on, unless it waited: then this is
    /// the end.
    std::function<bool()> stop = {};
};

/// A device of a trace, or a range of addresses that has no node in the device tree.
struct Device {
    std::string name;                    ///< as events have it
    std::string path;                    ///< in the device tree; otherwise as it was recorded
    std::vector<std::string> compatible; ///< of its node, the most specific first; may be empty
    std::uint64_t base = 0;              ///< physical address
    std::uint64_t size = 0;              ///< bytes
};

class TraceFile {
public:
    /// Opens a trace, which may be compressed with zstd; "-" is standard input. The files that
    /// follow `path` in a recording of several files are read, too, unless they were renamed.
    /// Throws Error (bad_input) if the file is not a readable trace, or lacks one of
    /// `options.cpus`.
    explicit TraceFile(const std::string& path, const TraceFileOptions& options = {});
    ~TraceFile();
    TraceFile(TraceFile&& other) noexcept;
    TraceFile& operator=(TraceFile&& other) noexcept;

    /// The next event in the order of the file; null at the end, or if TraceFileOptions::stop says
    /// so. It is valid until the next call. If the file can seek, the part before a range of time
    /// is not read. At the end of a file that grows it stays null until a seek, which finds what
    /// was added; only a new TraceFile can find that sound.
    const Event* next();
    /// The next events, 1 to 64; none where next() would return null. They are valid until the next
    /// call; KeptEvent is a copy with names of its own.
    std::span<const Event> next_events();

    /// Makes next() continue with the event of this number (Event::number), or with the first one
    /// after it that the options choose. The event is the same as if the trace had been read up to
    /// there. Throws like the constructor if the file cannot seek or is compressed.
    void seek_number(std::uint64_t number);
    /// Makes next() continue with the first event at this time or later, in nanoseconds since the
    /// first record.
    void seek_time(std::uint64_t nanoseconds);

    // What the recorder wrote before the records; empty and 0 if that part is damaged.
    std::string board() const;
    std::uint32_t frequency() const; ///< ticks of Record::time in a second
    unsigned cpus() const;
    std::span<const std::uint8_t> boot_id() const;    ///< 16 bytes, unique to the boot; or empty
    std::span<const std::byte> device_tree() const;   ///< flattened, as the guest was given it
    std::span<const Device> devices() const;          ///< by Record::device
    const Device* device(const Event& event) const;   ///< null: it belongs to none
    std::uint64_t duration(const Event& event) const; ///< of the access, in nanoseconds
    const std::map<std::string, std::string>& text() const; ///< keys and values: command line, ...

    // Valid after next() has returned null; for the whole file, whatever the options say.
    std::span<const abi::Loss> losses() const; ///< missing records
    std::optional<abi::Ending> ending() const; ///< empty: the file was cut, or is an import
    unsigned files() const;                    ///< number of files that were read
    const std::string& missing_file() const;   ///< why the next file was not read; empty: none
    bool sound() const;    ///< not cut, no damage in the parts that were read, no file missing
    bool complete() const; ///< sound, and nothing is lost: `print` would end with status 0
    /// The lines in which `print` says so: the policy, if it is known, and "complete: ..." or
    /// "incomplete: ..." with the reason. After a seek they count the events since then.
    std::string verdict() const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> trace_;
};

} // namespace mmioscope
