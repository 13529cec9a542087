#include "import/formats.hpp"

#include "import/mmiotrace.hpp"
#include "import/qemu_log.hpp"
#include "system/error.hpp"

#include <algorithm>

namespace mmioscope::importing {

namespace {

constexpr Format rows[] = {
    {"mmiotrace", "the log of Linux mmiotrace", import_mmiotrace},
    {"qemu", "QEMU's log of memory_region_ops_read and _write",
     [](ByteSource& log, ByteSource&, int fd) { return import_qemu_log(log, fd); }},
};

} // namespace

std::span<const Format> formats() {
    return rows;
}

const Format& format_of(std::string_view name) {
    const auto found = std::ranges::find(rows, name, &Format::name);
    if (found == std::end(rows)) {
        throw bad_input("there is no format {}", name);
    }
    return *found;
}

} // namespace mmioscope::importing
