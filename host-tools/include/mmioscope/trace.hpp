// A trace file, read event by event: what a program of your own includes.
//
//   mmioscope::TraceFile trace("boot.mmio");
//   while (const mmioscope::Event* event = trace.next()) ...
//
// Compile with `pkg-config --cflags --libs mmioscope`, as C++20.
#pragma once

#include "abi/container.hpp"
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

/// Which events are given, what names them, and who is told of damage.
struct TraceFileOptions {
    std::optional<std::uint64_t> from = {};  ///< nanoseconds since the first record: this and later
    std::optional<std::uint64_t> to = {};    ///< likewise: earlier than this
    std::set<unsigned> cpus = {};            ///< their events, and all markers; empty: all
    std::string filter = {};                 ///< as of `print -F`, mmioscope-filter(7); empty: all
    std::vector<std::string> symbols = {};   ///< files, as of `print --symbols`
    std::vector<std::string> registers = {}; ///< files, as of `print --registers`
    std::string device_tree = {};            ///< a blob, for a trace without one; empty: none
    bool one_file = false; ///< of a recording in several files (`record --rotate`) only this one
    /// Called with one line for each damaged part; nothing: they are told on standard error.
    std::function<void(const std::string&)> report = {};
};

class TraceFile {
public:
    /// Opens a trace, also one compressed with zstd; "-" is standard input. A recording in several
    /// files goes on in those behind `path`, as long as they are called as it called them. Throws
    /// an exception derived from std::runtime_error, with one line, if it cannot be read as a
    /// trace, or has not all of the CPUs.
    explicit TraceFile(const std::string& path, const TraceFileOptions& options = {});
    ~TraceFile();
    TraceFile(TraceFile&& other) noexcept;
    TraceFile& operator=(TraceFile&& other) noexcept;

    /// The next event in the order of the file; null at the end. It holds until the next call.
    /// Where the file can seek, a range of time is found without reading what is in front of it.
    const Event* next();

    /// Goes on with the event of this number (Event::number), or the first wanted one behind it,
    /// which is the same as if all in front of it had been read. Throws, as the constructor does,
    /// if the file cannot seek or is compressed.
    void seek_number(std::uint64_t number);
    /// Likewise with the first event at this time or later, nanoseconds since the first record.
    void seek_time(std::uint64_t nanoseconds);

    // What the recorder wrote in front of the records; empty and 0 where that part is damaged.
    std::string board() const;
    std::uint32_t frequency() const; ///< ticks of Record::time in a second
    unsigned cpus() const;
    std::span<const std::uint8_t> boot_id() const;     ///< 16 bytes, another for each boot; or none
    std::span<const std::byte> device_tree() const;    ///< flattened, as the guest was given it
    std::span<const abi::RegionEntry> regions() const; ///< by Record::device
    const std::map<std::string, std::string>& text() const; ///< keys and values: command line, ...

    // After next() has returned null; of the whole file, whatever the options say.
    std::span<const abi::Loss> losses() const; ///< records that are missing
    std::optional<abi::Ending> ending() const; ///< nothing: the file was cut, or is an import
    unsigned files() const;                    ///< that were read, of a recording in several
    const std::string& missing_file() const;   ///< why the next one was not; empty: it was
    bool sound() const; ///< neither cut nor, where it was read, damaged; no file is missing

private:
    struct Implementation;
    std::unique_ptr<Implementation> trace_;
};

} // namespace mmioscope
