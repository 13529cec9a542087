// Accesses to registers of made-up devices, in few words.
#pragma once

#include "reading/drive.hpp"
#include "reading/one_device.hpp"
#include "reading/trace.hpp"
#include "records.hpp"
#include "trace_text.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <sstream>
#include <string>

namespace mmioscope::test {

inline constexpr char register_devices[] = "device dev@1000 0x1c050000 0x1000 acme,dev\n"
                                           "device dev@2000 0x1c060000 0x1000 acme,dev\n"
                                           "device other@3000 0x1c070000 0x1000 acme,other\n";

/// "W0=5 R0=5": register and value in hexadecimal; "1R0=5" is of CPU 1, "gap" a loss,
/// "power" a CPU's start or end.
inline std::string lines_of(const std::string& words, std::uint32_t base = 0x1c050000) {
    std::istringstream in(words);
    std::string text;
    unsigned time = 0;
    for (std::string word; in >> word;) {
        const double seconds = 0.001 * ++time;
        if (word == "gap" || word == "power") {
            text += fmt::format("{:.6f} cpu0 {} value=3\n", seconds, word);
            continue;
        }
        const unsigned cpu = word[0] == '1' ? 1 : 0;
        word.erase(0, cpu);
        const std::size_t equals = word.find('=');
        const std::string value = word.substr(equals + 1);
        text += fmt::format("{:.6f} cpu{} {}4 {:#x} {}\n", seconds, cpu, word[0],
                            base + std::stoul(word.substr(1, equals - 1), nullptr, 16),
                            value == "?" ? value : "0x" + value);
    }
    return text;
}

/// Passes the events of `lines`, below the devices above, to `consumer`: of one device, or of all
/// if `device` is empty.
inline void read_lines(const std::string& lines, reading::Consumer& consumer,
                       const std::string& device = "") {
    std::istringstream in(register_devices + lines);
    const FileDescriptor file = memory_file("trace", 0);
    write_trace(read_trace_text(in), file.get());
    reading::TraceOptions options;
    options.path = fmt::format("/proc/self/fd/{}", file.get());
    reading::Trace trace(options);
    reading::DriveOptions how;
    how.losses = reading::Losses::all;
    if (device.empty()) {
        reading::drive(trace, {&consumer}, how);
    } else {
        reading::OneDevice one(trace, device, consumer);
        reading::drive(trace, {&one}, how);
    }
}

} // namespace mmioscope::test
