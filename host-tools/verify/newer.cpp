#include "verify/newer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

namespace mmioscope::verify {

namespace {

// QEMU's names of memory regions whose impl.min_access_size is 4 (hw/char/pl011.c of QEMU 10).
constexpr std::array<std::string_view, 1> word_models = {"pl011"};

bool takes_words(const importing::AccessLog& log, const importing::Line& line) {
    return line.kind == importing::LineKind::access &&
           std::ranges::find(word_models, log.regions[line.region]) != word_models.end();
}

// The first version that splits unaligned accesses into aligned ones (accel/tcg/cputlb.c,
// int_ld_mmio_beN and int_st_mmio_leN).
constexpr unsigned first_newer = 801;

// 7.2.22 is 702. 0: not known.
unsigned major_and_minor(std::string_view qemu) {
    unsigned major = 0;
    unsigned minor = 0;
    const auto [dot, error] = std::from_chars(qemu.data(), qemu.data() + qemu.size(), major);
    if (error == std::errc{} && dot != qemu.data() + qemu.size()) {
        std::from_chars(dot + 1, qemu.data() + qemu.size(), minor);
    }
    return 100 * major + minor;
}

void mark_widened(importing::AccessLog& log) {
    std::vector<bool> only_words(log.regions.size(), true);
    for (const importing::Line& line : log.lines) {
        if (takes_words(log, line) && line.size != 4) {
            only_words[line.region] = false;
        }
    }
    for (importing::Line& line : log.lines) {
        line.widened = takes_words(log, line) && only_words[line.region];
    }
}

} // namespace

void mark_newer(importing::AccessLog& log, std::string_view qemu) {
    if (major_and_minor(qemu) < first_newer) {
        return;
    }
    mark_widened(log);
    for (importing::Line& line : log.lines) {
        line.pieces = true;
    }
}

} // namespace mmioscope::verify
