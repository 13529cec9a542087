#include "linux/kernel_finder.hpp"

#include <algorithm>
#include <cstring>

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

void KernelFinder::scan(std::size_t from, std::size_t size) {
    const std::span<const std::byte> bytes = memory_.bytes();
    const auto* const start = bytes.data();
    from = std::min(from, bytes.size());
    // A name may cross two pieces.
    const std::size_t end = std::min(bytes.size(), from + size + sizeof init_comm);
    while (from < end) {
        const void* const found = ::memmem(start + from, end - from, init_comm, sizeof init_comm);
        if (found == nullptr) {
            return;
        }
        from = static_cast<std::size_t>(static_cast<const std::byte*>(found) - start);
        const std::uint64_t at = memory_.base() + from;
        if (at % 4 == 0 && std::find(names_.begin(), names_.end(), at) == names_.end()) {
            if (names_.size() == most_names) {
                names_.erase(names_.begin());
            }
            names_.push_back(at);
        }
        ++from;
    }
}

} // namespace mmioscope::linux_guest
