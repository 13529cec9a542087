#include "wire/doubts.hpp"

#include <fmt/format.h>

namespace mmioscope::wire {

std::string doubts(const WireDecoder& decoder) {
    if (decoder.goes_on()) {
        return "something unreadable follows the stream's end, so it was none; what followed is "
               "not known";
    }
    if (decoder.senseless() > 0) {
        return fmt::format("{} frames of the stream are not valid", decoder.senseless());
    }
    if (decoder.forgotten() > 0) {
        return fmt::format(
            "{} records came without their boot's description, or too long before it",
            decoder.forgotten());
    }
    return "";
}

std::string text_of(const WireCounts& counts) {
    return fmt::format("stream-bytes={}\nstream-frames={}\nstream-damaged={}\nstream-missing={}\n"
                       "stream-repeated={}\n",
                       counts.bytes, counts.frames, counts.damaged, counts.missing,
                       counts.repeated);
}

bool says_halted(std::string_view console) {
    const std::size_t end = console.find_last_not_of("\r\n");
    console = console.substr(0, end == std::string_view::npos ? 0 : end + 1);
    const std::string_view line = console.substr(console.find_last_of('\n') + 1);
    return line.ends_with("reboot: System halted") || line.ends_with("reboot: Power down");
}

std::string no_end(std::string_view console) {
    return fmt::format("the stream has no end{}; what followed its last frame is not known",
                       says_halted(console) ? ": the guest has halted, and on one CPU nothing "
                                              "tells the hypervisor of that"
                                            : "");
}

} // namespace mmioscope::wire
