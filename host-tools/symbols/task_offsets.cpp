#include "symbols/task_offsets.hpp"

#include "abi/chosen.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

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

} // namespace mmioscope::symbols
