#include "linux/kernel_finder.hpp"

#include <algorithm>
#include <cstring>
#include <cwchar>

namespace mmioscope::linux_guest {

namespace {

using namespace std::chrono_literals;

constexpr char init_comm[] = "swapper/0"; // with its zero byte
constexpr std::size_t piece = 1 << 20;
/// The start of RAM, where boot loaders put kernels and where kernels put themselves.
constexpr std::size_t searched = 64 << 20;
constexpr std::size_t most_names = 64;
constexpr std::chrono::milliseconds longest_pause = 1s;
constexpr unsigned steps_of_pass = 1u << 18; ///< tens of milliseconds

} // namespace

std::optional<Kernel> KernelFinder::pass(Clock::time_point now) {
    if (now < not_before_) {
        return std::nullopt;
    }
    scan(next_, piece);
    next_ += piece;
    not_before_ = now + 1ms;
    if (next_ >= std::min(searched, memory_.bytes().size())) {
        next_ = 0;
        not_before_ = now + pause_;
        pause_ = std::min(2 * pause_, longest_pause);
    }
    return candidates();
}

std::optional<Kernel> KernelFinder::find() {
    names_.clear();
    scan(0, searched);
    for (const std::uint64_t at : names_) {
        unsigned steps = steps_of_pass;
        if (std::optional<Kernel> kernel = find_kernel(memory_, searched, at, steps)) {
            return kernel;
        }
    }
    return std::nullopt;
}

// Tries names found before again, too: the name is there before the other tasks are. Each pass
// begins with another one, so that a name that uses all steps does not block the others.
std::optional<Kernel> KernelFinder::candidates() {
    unsigned steps = steps_of_pass;
    ++turn_;
    for (std::size_t i = 0; i < names_.size() && steps > 0; ++i) {
        const std::uint64_t at = names_[(turn_ + i) % names_.size()];
        if (std::optional<Kernel> kernel = find_kernel(memory_, searched, at, steps)) {
            return kernel;
        }
    }
    return std::nullopt;
}

// wmemchr() looks at many words at a time, and names are aligned as their tasks are.
void KernelFinder::scan(std::size_t from, std::size_t size) {
    static_assert(sizeof(wchar_t) == 4 && piece % sizeof(wchar_t) == 0);
    wchar_t first; // "swap"
    std::memcpy(&first, init_comm, sizeof first);
    const std::span<const std::byte> bytes = memory_.bytes();
    const auto* const words = reinterpret_cast<const wchar_t*>(bytes.data());
    const wchar_t* at = words + std::min(bytes.size(), from) / sizeof first;
    const wchar_t* const end = words + std::min(bytes.size(), from + size) / sizeof first;
    while ((at = std::wmemchr(at, first, static_cast<std::size_t>(end - at))) != nullptr) {
        const auto place = static_cast<std::size_t>(at++ - words) * sizeof first;
        if (bytes.size() - place >= sizeof init_comm &&
            std::memcmp(&bytes[place], init_comm, sizeof init_comm) == 0) {
            add_name(memory_.base() + place);
        }
    }
}

void KernelFinder::add_name(std::uint64_t at) {
    if (std::ranges::find(names_, at) == names_.end()) {
        if (names_.size() == most_names) {
            names_.erase(names_.begin());
        }
        names_.push_back(at);
    }
}

} // namespace mmioscope::linux_guest
