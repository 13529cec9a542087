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

} // namespace mmioscope::wire
