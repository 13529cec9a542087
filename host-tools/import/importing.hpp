// Shared by all imports: the result of each line of a log, and the records that make a trace file.
#pragma once

#include "file/file_writer.hpp"
#include "records/losses.hpp"
#include "system/byte_source.hpp"

#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace mmioscope::importing {

/// The unusable lines of a log.
struct Malformed {
    void add(std::uint64_t line, std::string_view why);

    std::uint64_t count = 0;
    std::vector<std::string> first; ///< "line 12: why", for the first few
};

/// The result of an import.
struct Report {
    std::uint64_t accesses = 0;
    std::uint64_t lost = 0;
    Malformed malformed;
    std::vector<std::string> notes;   ///< one line each
    std::vector<std::string> missing; ///< what the trace lacks of the log, or the log of what was

    /// Why the trace is incomplete: its malformed lines and what is `missing`, as part of a
    /// sentence; empty if there is no reason.
    std::string incomplete() const;
};

/// Writes a trace file whose records come from elsewhere, and numbers these.
class TraceMaker {
public:
    /// Writes the head. `frequency` is 0 if the log has no times. `text`: keys and values on the
    /// trace's origin.
    TraceMaker(int fd, std::uint32_t frequency, std::uint32_t cpus, std::string_view board,
               const std::vector<abi::RegionEntry>& regions, const std::string& text);

    /// Adds a record, complete except for the numbers. Times must not go back.
    void add(abi::Record record);
    /// Adds a marker, split into records as the hypervisor would.
    void mark(std::uint64_t time, std::string_view text);
    /// Records `count` lost records of `cpu`.
    void lose(unsigned cpu, std::uint64_t time, std::uint64_t count);
    /// `incomplete`: why it is, although no record is known to be lost; empty: it is not.
    void finish(const std::string& incomplete);

private:
    void put(abi::Record record);

    trace::WriteProgress progress_;
    trace::FileWriter writer_;
    std::map<unsigned, std::uint32_t> sequence_;   ///< by CPU
    std::map<std::uint16_t, std::uint32_t> order_; ///< by region
    trace::LossCounter losses_;
    std::uint16_t marker_id_ = 0;
};

/// Makes a region. A path that is too long is cut at the front, with "~" for the rest.
abi::RegionEntry make_region(std::uint64_t base, std::uint64_t size, const std::string& path);

/// log2 of an access's size in bytes; -1 if it is not one of 1, 2, 4 ... 64.
int log2_size(std::uint64_t size);

// The list of log formats that can become a trace.

struct Format {
    std::string_view name; ///< as --as takes it
    std::string_view help; ///< one line: what it is
    /// Writes the trace to `fd`. `first` and `second` provide the same log, each from its start,
    /// for formats that need two passes. Throws Error (bad_input) if the log has nothing usable.
    Report (*import)(ByteSource& first, ByteSource& second, int fd);
};

/// All formats, in the order of --help.
std::span<const Format> formats();

/// Throws Error (bad_input) if no format has this name.
const Format& format_of(std::string_view name);

// Reads logs line by line, and lines field by field.

/// Calls `take` with each line of `source`, without its line end; the last line may be cut off.
/// Throws Error if reading fails, also because of damage to compressed data, and Error (bad_input)
/// at a line of more than 64 KiB.
void for_each_line(ByteSource& source, const std::function<void(std::string_view)>& each);

/// Parses a line from the left; anything unexpected makes it bad.
class Fields {
public:
    explicit Fields(std::string_view text) : rest_(text) {}

    /// Takes `word` if it comes next.
    bool accept(std::string_view word) {
        const bool next = good_ && rest_.starts_with(word);
        rest_.remove_prefix(next ? word.size() : 0);
        return next;
    }

    void expect(std::string_view word) {
        good_ = good_ && rest_.starts_with(word);
        rest_.remove_prefix(good_ ? word.size() : 0);
    }

    template <typename T>
    T number(int base = 10) {
        T value{};
        const char* end = rest_.data() + rest_.size();
        const auto [stop, error] = std::from_chars(rest_.data(), end, value, base);
        good_ = good_ && error == std::errc{};
        rest_.remove_prefix(good_ ? static_cast<std::size_t>(stop - rest_.data()) : 0);
        return value;
    }

    std::string_view quoted() {
        expect("'");
        const std::size_t end = rest_.find('\'');
        good_ = good_ && end != std::string_view::npos;
        const std::string_view text = good_ ? rest_.substr(0, end) : std::string_view{};
        rest_.remove_prefix(good_ ? end + 1 : 0);
        return text;
    }

    bool good() const { return good_; }
    bool at_end() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

private:
    std::string_view rest_;
    bool good_ = true;
};

// What an import keeps in a trace's text for other commands, besides PCIDEV lines.

/// The upper half of the addresses of code, in hexadecimal, if that of a kernel of 64 bits.
inline constexpr char pc_high_key[] = "pc-high";
inline constexpr char imported_key[] = "imported-from";

using Text = std::map<std::string, std::string>;

/// The upper half of the PCs of a trace with this text; 0: they have 32 bits.
inline std::uint32_t pc_high(const Text& text) {
    std::uint32_t high = 0;
    if (const auto found = text.find(pc_high_key); found != text.end()) {
        const std::string& digits = found->second;
        std::from_chars(digits.data(), digits.data() + digits.size(), high, 16);
    }
    return high;
}

/// Whether the trace's clock is printk's, in nanoseconds.
inline bool has_clock_of_printk(const Text& text) {
    const auto found = text.find(imported_key);
    return found != text.end() && found->second == "mmiotrace";
}

// Keeps the PCIDEV lines of an imported mmiotrace log for a later export: in the trace's text, with
// the key `pcidev-BBDF` and the rest of the line as the value.

inline constexpr std::string_view pci_key = "pcidev-";

} // namespace mmioscope::importing
