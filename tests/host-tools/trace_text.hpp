// Traces as text, for golden tests and for trying commands.
#pragma once

#include "abi/record.hpp"
#include "abi/ring.hpp"
#include "given_event.hpp"
#include "reading/drive.hpp"
#include "reading/trace.hpp"
#include "system/file_descriptor.hpp"

#include <cstdint>
#include <deque>
#include <istream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::test {

/// A line is one of these; '#' begins a comment, numbers are decimal or 0x..., times seconds:
///     frequency HZ
///     device NAME BASE SIZE [COMPATIBLE]     with it the trace has a device tree; NAME[N] is the
///                                            Nth `reg` entry of that device
///     interrupt DEVICE ID                    a shared interrupt of the GIC, for its tree node
///     register DEVICE OFFSET NAME [FIELD:LOW[+WIDTH][=WORD,WORD...]]...
///     code ADDRESS SIZE FUNCTION [MODULE]
///     variable ADDRESS NAME
///     task POINTER PID COMM [TGID]
///     about KEY=VALUE                        of the trace's text
///     option WORD...                         what the reader of the text is to do
///     TIME cpuN R4|W2... ADDRESS VALUE|? [MEMBER=NUMBER]...
///     TIME cpuN gap|marker|power|... [MEMBER=NUMBER]...
///     text TIME cpuN DEVICE STRING           one-byte writes to the device's first register, 10 us
///                                            apart; \n in STRING is CR and LF
///     console TIME STRING                    came by the guest's console; \n is CR and LF, \e ESC
/// MEMBER is one of abi::Record's, or type.
struct TraceText {
    struct Code {
        std::uint32_t size;
        Location location;
    };
    std::uint32_t frequency = 1'000'000;
    std::vector<abi::RegionEntry> regions;
    std::vector<std::string> compatible;             ///< for each region; empty: none
    std::map<std::string, std::uint32_t> interrupts; ///< by device
    std::vector<abi::Record> records;
    std::map<std::pair<std::string, std::uint64_t>, Register> registers; ///< by device and offset
    std::map<std::uint32_t, Code> code;                                  ///< by address
    std::map<std::uint32_t, std::string> variables;                      ///< by address
    std::map<std::uint32_t, Task> tasks;                                 ///< by Record::task
    std::set<std::string> options;
    std::string about;                                          ///< lines
    std::vector<std::pair<std::uint64_t, std::string>> console; ///< by time
};

/// Reads up to the end or a line "----". Throws std::runtime_error that names the line.
TraceText read_trace_text(std::istream& in);

/// Adds to `given` the names that the text has for the numbers, device and offset of `record`.
void add_names(Given& given, const abi::Record& record, TraceText& text,
               std::deque<Location>& locations);

/// Writes it as a trace file, with its code as symbols, its tasks and its device tree.
void write_trace(const TraceText& text, int fd);

/// Such text as a trace file that is being read.
class TextTrace {
public:
    explicit TextTrace(const std::string& text);
    /// Passes all events, and losses as Losses::all.
    void drive(reading::Consumer& consumer);
    const trace::TraceReader& reader() const { return trace_.reader(); }

private:
    FileDescriptor file_;
    reading::Trace trace_;
};

} // namespace mmioscope::test
