// Compressed data is input: what comes out must not depend on how much is asked for at a time, nor
// whether there is a problem, which is one line. The first byte has the size of the pieces.
#include "system/escape.hpp"
#include "system/open_source.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace mmioscope;

/// Returns up to a MiB of the content.
std::vector<std::byte> read(std::span<const std::byte> packed, std::size_t piece,
                            std::string& problem) {
    MemorySource memory(packed);
    CompressedSource source(memory, packed);
    std::vector<std::byte> content(1u << 20);
    std::size_t size = 0;
    for (std::size_t got = 1; got > 0;) {
        const std::size_t most = std::min(piece, content.size() - size);
        got = source.read(content.data() + size, most);
        size += got;
        if (got > most) {
            std::abort();
        }
    }
    content.resize(size);
    problem = size < (1u << 20) ? source.problem() : "";
    return content;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto packed =
        std::as_bytes(std::span(data, size)).subspan(std::min<std::size_t>(size, 1));
    if (is_compressed(packed)) {
        std::string all;
        std::string pieces;
        const auto content = read(packed, 1u << 20, all);
        const auto again = read(packed, 1000u + data[0] * 64u, pieces);
        // Of damaged data more or less may come out (libbz2).
        if (all != pieces || all != printable(all) || (all.empty() && content != again)) {
            std::abort();
        }
    }
    return 0;
}
