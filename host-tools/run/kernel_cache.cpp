#define OPENSSL_SUPPRESS_DEPRECATED // EVP would bring all of libcrypto into the program
#include "run/kernel_cache.hpp"

#include <fmt/format.h>
#include <openssl/sha.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace mmioscope::run {

namespace {

/// The start of a file; the banner, the frames and the symbols follow.
struct Head {
    std::uint32_t banner_size;
    std::uint32_t frames_size;
    std::uint32_t has_offsets; ///< 0 or 1
    symbols::TaskOffsets offsets;
};
static_assert(sizeof(Head) == 20);

// The program may read an image in another way once it is built anew.
std::string key_of(std::span<const std::byte> image) {
    struct stat program {};
    ::stat("/proc/self/exe", &program);
    const std::array<std::int64_t, 4> build{static_cast<std::int64_t>(program.st_ino),
                                            program.st_size, program.st_mtim.tv_sec,
                                            program.st_mtim.tv_nsec};
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, build.data(), sizeof build);
    SHA256_Update(&context, image.data(), image.size());
    std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
    SHA256_Final(digest.data(), &context);
    return fmt::format("{:02x}", fmt::join(digest, ""));
}

} // namespace

KernelCache::KernelCache(const std::string& folder, std::span<const std::byte> image)
    : files_(folder), key_(folder.empty() ? "" : key_of(image)) {}

std::optional<KernelFacts> KernelCache::find() const {
    const std::optional<std::vector<std::byte>> file = files_.find(key_);
    Head head{};
    if (!file || file->size() < sizeof head) {
        return std::nullopt;
    }
    std::memcpy(&head, file->data(), sizeof head);
    const auto rest = std::span(*file).subspan(sizeof head);
    if (head.banner_size > rest.size() || head.frames_size > rest.size() - head.banner_size) {
        return std::nullopt;
    }
    const auto frames = rest.subspan(head.banner_size, head.frames_size);
    const auto packed = rest.subspan(head.banner_size + head.frames_size);
    return KernelFacts{{reinterpret_cast<const char*>(rest.data()), head.banner_size},
                       {packed.begin(), packed.end()},
                       head.has_offsets != 0 ? std::optional(head.offsets) : std::nullopt,
                       {frames.begin(), frames.end()}};
}

void KernelCache::keep(const KernelFacts& facts) const {
    const Head head{static_cast<std::uint32_t>(facts.banner.size()),
                    static_cast<std::uint32_t>(facts.frames.size()), facts.task_offsets.has_value(),
                    facts.task_offsets.value_or(symbols::TaskOffsets{})};
    const auto start = std::as_bytes(std::span(&head, 1));
    const auto banner = std::as_bytes(std::span(facts.banner));
    std::vector<std::byte> file(start.begin(), start.end());
    file.insert(file.end(), banner.begin(), banner.end());
    file.insert(file.end(), facts.frames.begin(), facts.frames.end());
    file.insert(file.end(), facts.symbols.begin(), facts.symbols.end());
    files_.keep(key_, file);
}

} // namespace mmioscope::run
