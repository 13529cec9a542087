#include "symbols/kernel_image.hpp"

#include "abi/chosen.hpp"
#include "symbols/kallsyms_tables.hpp"
#include "system/error.hpp"
#include "system/escape.hpp"

#include <lz4.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <utility>

namespace mmioscope::symbols {

namespace {

constexpr std::uint32_t limit = abi::chosen::max_task_offset;
constexpr unsigned most_families = 64; ///< candidates; a kernel has only init_task

std::uint32_t word(std::span<const std::byte> image, std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, image.data() + at, sizeof value);
    return value;
}

/// The members after pid, tgid and a canary, as in init/init_task.c: real_parent and parent, which
/// are init_task itself, the empty lists children and sibling, and group_leader, again init_task
/// itself.
struct Family {
    static constexpr std::size_t words = 7;
    static constexpr std::uint32_t children = 8; ///< offset in the family

    std::uint32_t task;   ///< address of init_task
    std::uint32_t offset; ///< of the family in init_task
};

std::optional<Family> family_at(std::span<const std::byte> image, std::size_t at) {
    const std::uint32_t task = word(image, at);
    const std::uint32_t children = word(image, at + 8);
    if (task == 0 || word(image, at + 4) != task || word(image, at + 24) != task ||
        word(image, at + 12) != children || word(image, at + 16) != children + 8 ||
        word(image, at + 20) != children + 8) {
        return std::nullopt;
    }
    const std::uint32_t offset = children - task - Family::children;
    const bool fits = offset % 4 == 0 && offset >= 16 && offset < limit && offset <= at;
    return fits ? std::optional(Family{task, offset}) : std::nullopt;
}

/// "swapper", padded with zeros to 16 characters.
std::optional<std::uint32_t> find_comm(std::span<const std::byte> task) {
    constexpr char name[16] = "swapper";
    for (std::size_t at = 4; at + sizeof name <= task.size(); at += 4) {
        if (std::memcmp(task.data() + at, name, sizeof name) == 0) {
            return static_cast<std::uint32_t>(at);
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<TaskOffsets> find_task_offsets(std::span<const std::byte> image, bool canary) {
    unsigned families = 0;
    for (std::size_t at = 0; at + 4 * Family::words <= image.size() && families < most_families;
         at += 4) {
        const std::optional<Family> family = family_at(image, at);
        if (!family) {
            continue;
        }
        ++families;
        const std::size_t begin = at - family->offset;
        const auto task = image.subspan(begin, std::min<std::size_t>(limit, image.size() - begin));
        const std::optional<std::uint32_t> comm = find_comm(task);
        const std::uint32_t pid = family->offset - (canary ? 12 : 8);
        if (comm && word(task, pid) == 0 && word(task, pid + 4) == 0) {
            return TaskOffsets{*comm, pid};
        }
    }
    return std::nullopt;
}

bool has_task_in_register(std::string_view banner) {
    constexpr std::string_view start = "Linux version ";
    unsigned major = 0;
    unsigned minor = 0;
    if (!banner.starts_with(start)) {
        return false;
    }
    const char* const end = banner.data() + banner.size();
    const auto [dot, error] = std::from_chars(banner.data() + start.size(), end, major);
    if (error != std::errc() || dot == end || *dot != '.' ||
        std::from_chars(dot + 1, end, minor).ec != std::errc()) {
        return false;
    }
    return major > 5 || (major == 5 && minor >= 16);
}

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
    KernelImage kernel{read_tables(image), {}, {}, {}};
    if (kernel.symbols.empty()) {
        return std::nullopt;
    }
    kernel.banner = find_banner(text_of(image));
    if (has_task_in_register(kernel.banner)) {
        kernel.task_offsets = find_task_offsets(image, has_canary(kernel.symbols));
    }
    kernel.memory.assign(image.begin(), image.end());
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

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t step = 1u << 20;

/// Room for the next part of the output, and how much of it is used.
class Output {
public:
    explicit Output(std::size_t limit) : limit_(limit) {}

    std::span<std::byte> room() {
        bytes_.resize(std::min(limit_, used_ + step));
        return std::span(bytes_).subspan(used_);
    }
    void used(std::size_t size) { used_ += size; }
    bool full() const { return used_ == limit_; }
    Bytes take() {
        bytes_.resize(used_);
        return std::move(bytes_);
    }

private:
    Bytes bytes_;
    std::size_t limit_;
    std::size_t used_ = 0;
};

template <typename T>
T* as(std::byte* bytes) {
    return reinterpret_cast<T*>(bytes);
}

template <typename T>
const T* as(const std::byte* bytes) {
    return reinterpret_cast<const T*>(bytes);
}

// liblzma applies the filter for ARM code by itself, because the stream names it.
Bytes expand_lzma(std::span<const std::byte> bytes, std::size_t limit, bool alone) {
    constexpr std::uint64_t memory = 256u << 20;
    lzma_stream stream = LZMA_STREAM_INIT;
    if ((alone ? lzma_alone_decoder(&stream, memory) : lzma_stream_decoder(&stream, memory, 0)) !=
        LZMA_OK) {
        return {};
    }
    const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> end(&stream, lzma_end);
    stream.next_in = as<std::uint8_t>(bytes.data());
    stream.avail_in = bytes.size();
    Output output(limit);
    lzma_ret result = LZMA_OK;
    while (result == LZMA_OK && !output.full()) {
        const std::span<std::byte> room = output.room();
        stream.next_out = as<std::uint8_t>(room.data());
        stream.avail_out = room.size();
        result = lzma_code(&stream, LZMA_RUN);
        output.used(room.size() - stream.avail_out);
    }
    return output.take();
}

Bytes expand_gzip(std::span<const std::byte> bytes, std::size_t limit) {
    constexpr int gzip_header = 16;
    z_stream stream{};
    if (inflateInit2(&stream, MAX_WBITS + gzip_header) != Z_OK) {
        return {};
    }
    const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
    stream.next_in = const_cast<Bytef*>(as<Bytef>(bytes.data()));
    stream.avail_in = static_cast<uInt>(std::min<std::size_t>(bytes.size(), UINT32_MAX));
    Output output(limit);
    int result = Z_OK;
    while (result == Z_OK && !output.full()) {
        const std::span<std::byte> room = output.room();
        stream.next_out = as<Bytef>(room.data());
        stream.avail_out = static_cast<uInt>(room.size());
        result = inflate(&stream, Z_NO_FLUSH);
        output.used(room.size() - stream.avail_out);
    }
    return output.take();
}

Bytes expand_zstd(std::span<const std::byte> bytes, std::size_t limit) {
    const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                          ZSTD_freeDCtx);
    // In one step if the stream tells its size: no window beside the output.
    const unsigned long long whole = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    const std::size_t packed = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
    if (whole <= limit && ZSTD_isError(packed) == 0) {
        Bytes expanded(whole);
        if (ZSTD_decompressDCtx(context.get(), expanded.data(), whole, bytes.data(), packed) ==
            whole) {
            return expanded;
        }
    }
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    Output output(limit);
    for (std::size_t rest = 1; rest != 0 && !output.full();) {
        const std::span<std::byte> room = output.room();
        ZSTD_outBuffer out{room.data(), room.size(), 0};
        rest = ZSTD_decompressStream(context.get(), &out, &in);
        if (ZSTD_isError(rest) != 0) {
            break;
        }
        output.used(out.pos);
        if (out.pos == 0 && in.pos == in.size) {
            break; // the stream is cut off
        }
    }
    return output.take();
}

// The kernel's build writes LZ4's legacy frames: a magic, then blocks, each preceded by its size
// (lz4_Frame_format.md, "Legacy frame"). There is no end mark: they end at an impossible size.
Bytes expand_lz4(std::span<const std::byte> bytes, std::size_t limit) {
    constexpr std::size_t block = 8u << 20;
    const auto bound = static_cast<std::uint32_t>(LZ4_compressBound(block));
    const auto room = std::make_unique_for_overwrite<std::byte[]>(block); // a block may be one byte
    Bytes expanded;
    std::uint32_t size = 0;
    for (std::size_t at = 4; at + sizeof size <= bytes.size(); at += size) {
        std::memcpy(&size, bytes.data() + at, sizeof size);
        at += sizeof size;
        if (size == 0 || size > bound || size > bytes.size() - at) {
            break;
        }
        const std::size_t left = std::min(block, limit - expanded.size());
        const int got = LZ4_decompress_safe(as<char>(bytes.data() + at), as<char>(room.get()),
                                            static_cast<int>(size), static_cast<int>(left));
        if (got < 0 || left == 0) {
            break;
        }
        expanded.insert(expanded.end(), room.get(), room.get() + got);
    }
    return expanded;
}

} // namespace

Bytes expand(Packing packing, std::span<const std::byte> bytes, std::size_t limit) {
    switch (packing) {
    case Packing::xz: return expand_lzma(bytes, limit, false);
    case Packing::lzma: return expand_lzma(bytes, limit, true);
    case Packing::gzip: return expand_gzip(bytes, limit);
    case Packing::lz4: return expand_lz4(bytes, limit);
    case Packing::zstd: return expand_zstd(bytes, limit);
    }
    return {};
}

namespace {

/// PUSH with LR among its registers, or of LR alone (ARM ARM A8.8.133, encodings A1 and A2).
bool saves_lr(std::uint32_t word) {
    return (word & 0xffff'4000) == 0xe92d'4000 || word == 0xe52d'e004;
}

} // namespace

KernelText::KernelText(std::vector<std::byte> memory, const SymbolList& symbols)
    : memory_(std::move(memory)) {
    constexpr std::uint32_t step = 0x8000; // TEXT_OFFSET is a multiple of it
    constexpr std::uint32_t farthest = 16u << 20;
    constexpr std::size_t enough = 2000;
    std::vector<std::uint32_t> functions;
    for (const Symbol& symbol : symbols) {
        if (is_function(symbol) && symbol.module.empty() && functions.size() < enough) {
            functions.push_back(symbol.address);
        }
    }
    if (functions.empty()) {
        return;
    }
    std::size_t most = functions.size() / 2;
    const std::uint32_t first = *std::ranges::min_element(functions) & ~(step - 1);
    for (std::uint32_t back = 0; back < farthest && back <= first; back += step) {
        const std::optional<std::uint32_t> before = std::exchange(base_, first - back);
        const auto found = static_cast<std::size_t>(
            std::ranges::count_if(functions, [this](std::uint32_t address) {
                return saves_lr(word(address).value_or(0));
            }));
        if (found > most) {
            most = found;
        } else {
            base_ = before;
        }
    }
}

std::optional<std::uint32_t> KernelText::word(std::uint32_t address) const {
    const std::size_t at = address - base_.value_or(address + 4); // far behind the end
    if (memory_.size() < 4 || at > memory_.size() - 4) {
        return std::nullopt;
    }
    std::uint32_t word = 0;
    std::memcpy(&word, memory_.data() + at, sizeof word);
    return word;
}

UnwindTable frames_of(const KernelImage& kernel) {
    constexpr std::size_t fewest = 1000; // a stock kernel has 34,000
    const std::optional<std::uint32_t> base = KernelText(kernel.memory, kernel.symbols).base();
    const Reach code = FunctionTable(kernel.symbols).code();
    return base ? UnwindTable(kernel.memory, *base, fewest,
                              [&](std::uint32_t address) { return code.has(address); })
                : UnwindTable();
}

} // namespace mmioscope::symbols
