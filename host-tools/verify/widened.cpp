#include "verify/widened.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

namespace mmioscope::verify {

namespace {

// QEMU's names of memory regions whose impl.min_access_size is 4 (hw/char/pl011.c of QEMU 10).
constexpr std::array<std::string_view, 1> word_models = {"pl011"};

bool takes_words(const logs::AccessLog& log, const logs::Line& line) {
    return line.kind == logs::LineKind::access &&
           std::ranges::find(word_models, log.regions[line.region]) != word_models.end();
}

} // namespace

void mark_widened(logs::AccessLog& log, std::string_view qemu) {
    unsigned major = 0;
    std::from_chars(qemu.data(), qemu.data() + qemu.size(), major);
    if (major < 8) { // also if it is not known
        return;
    }
    std::vector<bool> only_words(log.regions.size(), true);
    for (const logs::Line& line : log.lines) {
        if (takes_words(log, line) && line.size != 4) {
            only_words[line.region] = false;
        }
    }
    for (logs::Line& line : log.lines) {
        line.widened = takes_words(log, line) && only_words[line.region];
    }
}

} // namespace mmioscope::verify
