#include "symbols/kernel_image.hpp"

#include "symbols/expand.hpp"
#include "symbols/kallsyms_tables.hpp"
#include "system/error.hpp"
#include "system/plain_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace mmioscope::symbols {

namespace {

using namespace std::string_view_literals;

/// Limit for a kernel, and for all wrong tries before it together.
constexpr std::size_t max_expanded = 256u << 20;
/// Counted for a try with little output: there may be one at each byte.
constexpr std::size_t min_try = 1u << 20;

struct Magic {
    Packing packing;
    std::string_view bytes;
};

constexpr std::array magics{
    Magic{Packing::xz, "\xfd"
                       "7zXZ\0"sv},
    Magic{Packing::zstd, "\x28\xb5\x2f\xfd"sv},
    Magic{Packing::lz4, "\x02\x21\x4c\x18"sv},
    Magic{Packing::gzip, "\x1f\x8b\x08"sv},
    Magic{Packing::lzma, "\x5d\0\0"sv},
};

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A printf format begins the same, but without a number; and the line for /proc/version has no
// build number.
std::string find_banner(std::string_view image) {
    constexpr std::string_view start = "Linux version ";
    constexpr std::size_t longest = 1024;
    for (std::size_t at = image.find(start); at != std::string_view::npos;
         at = image.find(start, at + 1)) {
        const std::string_view line = image.substr(at, longest);
        const std::string_view banner = line.substr(0, line.find_first_of("\n\0"sv));
        const bool printable =
            std::all_of(banner.begin(), banner.end(), [](char c) { return is_plain(c); });
        if (banner.size() < line.size() && printable &&
            banner.find_first_of("0123456789") == start.size() &&
            banner.find(" #") != std::string_view::npos &&
            banner.find(" # ") == std::string_view::npos) {
            return std::string(banner);
        }
    }
    return {};
}

// Only kernels that check a task's canary have this symbol.
bool has_canary(const SymbolList& symbols) {
    return std::any_of(symbols.begin(), symbols.end(),
                       [](const Symbol& symbol) { return symbol.name == "__stack_chk_fail"; });
}

std::optional<KernelImage> kernel_in(std::span<const std::byte> image) {
    KernelImage kernel{read_tables(image), {}, {}};
    if (kernel.symbols.empty()) {
        return std::nullopt;
    }
    kernel.banner = find_banner(text_of(image));
    if (has_task_in_register(kernel.banner)) {
        kernel.task_offsets = find_task_offsets(image, has_canary(kernel.symbols));
    }
    return kernel;
}

// Tries each magic, because the decompressor's code contains some of them.
std::optional<KernelImage> kernel_packed_in(std::span<const std::byte> bytes) {
    std::size_t left = max_expanded;
    for (const Magic& magic : magics) {
        const std::string_view text = text_of(bytes);
        for (std::size_t at = text.find(magic.bytes); at != std::string_view::npos && left > 0;
             at = text.find(magic.bytes, at + 1)) {
            const auto image = expand(magic.packing, bytes.subspan(at), left);
            left -= std::min(left, std::max(image.size(), min_try));
            if (std::optional<KernelImage> kernel = kernel_in(image)) {
                return kernel;
            }
        }
    }
    return std::nullopt;
}

} // namespace

KernelImage read_kernel_image(std::span<const std::byte> bytes) {
    std::optional<KernelImage> kernel = kernel_in(bytes);
    if (!kernel) {
        kernel = kernel_packed_in(bytes);
    }
    if (!kernel) {
        throw bad_input(
            "no symbols found: this is not a kernel image, or it lacks CONFIG_KALLSYMS");
    }
    return *kernel;
}

} // namespace mmioscope::symbols
