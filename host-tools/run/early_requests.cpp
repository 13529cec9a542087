#include "run/early_requests.hpp"

#include "abi/control_check.hpp"
#include "abi/chosen.hpp"
#include "control/requests.hpp"
#include "run/selection.hpp"
#include "system/error.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace mmioscope::run {

namespace {

using abi::control::Command;

bool overlaps(const abi::RegionEntry& region, const control::Ask& range) {
    return region.base < std::uint64_t{range.first} + range.second &&
           range.first < region.base + region.size;
}

/// Why the boot would refuse `ask`, as far as that is known before it; done: not known.
abi::control::Status refusal(const control::Ask& ask, const wire::StreamHead& devices,
                             const std::optional<BootPolicy>& policy) {
    const abi::control::Status status =
        check_early(abi::control::make_request(ask.command, 0, ask.first, ask.second));
    if (status != abi::control::Status::done) {
        return status;
    }
    const bool range =
        ask.command == Command::select_range || ask.command == Command::deselect_range;
    if (range && std::ranges::none_of(devices.regions, [&](const abi::RegionEntry& region) {
            return overlaps(region, ask);
        })) {
        return abi::control::Status::no_device;
    }
    const bool fixed = ask.command == Command::policy && policy &&
                       !abi::control::can_become(policy->first, static_cast<abi::Policy>(ask.first),
                                                 policy->guest_reader);
    return fixed ? abi::control::Status::fixed : abi::control::Status::done;
}

std::vector<control::Ask> requests_of(const std::string& text, const wire::StreamHead& devices,
                                      const std::optional<BootPolicy>& policy) {
    const control::FindDevice find = [&devices](const std::string& name) {
        return control::find_device(devices, name);
    };
    std::vector<control::Ask> asks = control::asks_of(control::words_of(text), find);
    for (const control::Ask& ask : asks) {
        if (const abi::control::Status status = refusal(ask, devices, policy);
            status != abi::control::Status::done) {
            throw bad_input("{}", abi::control::early_reason(status));
        }
    }
    return asks;
}

} // namespace

std::vector<control::Ask> early_requests(const std::vector<std::string>& commands,
                                         const Bytes& tree, const std::string& option,
                                         const std::optional<BootPolicy>& policy) {
    if (commands.empty()) {
        return {};
    }
    const wire::StreamHead devices = tree_devices(tree);
    std::vector<control::Ask> all;
    for (const std::string& command : commands) {
        try {
            const std::vector<control::Ask> asks = requests_of(command, devices, policy);
            all.insert(all.end(), asks.begin(), asks.end());
        } catch (const Error& error) {
            throw bad_input("{}'{}': {}", option, command, error.what());
        }
    }
    if (all.size() > abi::chosen::max_requests) {
        throw bad_input(
            "{}{} requests are too many, at most {} (a device counts once for each of its ranges)",
            option, all.size(), abi::chosen::max_requests);
    }
    return all;
}

std::vector<std::uint32_t> property_cells(const std::vector<control::Ask>& requests) {
    std::vector<std::uint32_t> cells;
    for (const control::Ask& ask : requests) {
        cells.insert(cells.end(), {static_cast<std::uint32_t>(ask.command), ask.first, ask.second});
    }
    return cells;
}

std::string property_text(const std::vector<control::Ask>& requests) {
    return fmt::format("{} \"<{:#x}>\"", abi::chosen::requests,
                       fmt::join(property_cells(requests), " "));
}

namespace {

/// Large, because QEMU's CPU waits while the socket is full.
constexpr int room = 4 << 20;

/// In one pass: QEMU may send without pause, and somebody has to look for Ctrl-C.
constexpr unsigned most_blocks = 16;

} // namespace

ControlWire::ControlWire(const std::string& path, int stream)
    : stream_(stream), buffer_(64 * 1024),
      // A request is smaller than the socket's buffer: it is sent completely or not at all.
      relay_(path, [this](std::span<const std::byte> bytes) {
          (void)::send(here_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      }) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) != 0) {
        throw failure("cannot make a socket: {}", std::strerror(errno));
    }
    uart_ = FileDescriptor(ends[0]);
    here_ = FileDescriptor(ends[1]);
    ::fcntl(here_.get(), F_SETFD, FD_CLOEXEC);
    ::setsockopt(uart_.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
}

bool ControlWire::pass() {
    for (unsigned i = 0; i < most_blocks; ++i) {
        const ssize_t size = ::recv(here_.get(), buffer_.data(), buffer_.size(), 0);
        const auto bytes = std::span<const std::byte>(buffer_).first(
            static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
        append(stream_, bytes, "the stream");
        relay_.pass(bytes);
        if (bytes.empty()) {
            return false;
        }
    }
    return true;
}

} // namespace mmioscope::run
