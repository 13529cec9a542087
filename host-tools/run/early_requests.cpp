#include "run/early_requests.hpp"

#include "abi/chosen.hpp"
#include "abi/control_check.hpp"
#include "abi/stack.hpp"
#include "system/error.hpp"
#include "system/units.hpp"
#include "tree/device_names.hpp"
#include "tree/device_tree.hpp"
#include "tree/tree_nodes.hpp"

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

namespace {

std::vector<std::string> split(const std::vector<std::string>& arguments) {
    std::vector<std::string> words;
    for (std::string_view rest : arguments) {
        while (!rest.empty()) {
            const std::string_view word = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(rest.size(), word.size() + 1));
            if (!word.empty()) {
                words.emplace_back(word);
            }
        }
    }
    return words;
}

bool is_range(std::string_view word) {
    const std::size_t plus = word.find('+');
    return plus != std::string_view::npos && parse_number(word.substr(0, plus)) &&
           parse_size(word.substr(plus + 1)).value_or(0) > 0;
}

// The hypervisor reads only plain numbers: 64K becomes 0x10000.
std::string plain_range(std::string_view word) {
    const std::size_t plus = word.find('+');
    return fmt::format("{:#x}+{:#x}", *parse_number(word.substr(0, plus)),
                       *parse_size(word.substr(plus + 1)));
}

[[noreturn]] void unknown(std::string_view option, const std::string& word, const Bytes& tree) {
    Suggestion nearest(word);
    const tree::Aliases aliases = tree::aliases(tree);
    for (const auto& [alias, path] : aliases) {
        nearest.add(alias);
    }
    for (const std::string& path : device_paths(tree)) {
        for (const std::string& name : tree::names_of(path, aliases)) {
            nearest.add(name);
        }
    }
    throw bad_input("{}: there is no device '{}'{} (all, none, BASE+SIZE or a device of the "
                    "tree: see dtc -I dtb FILE, or mmioscope info of a trace of this board)",
                    option, word, nearest.text());
}

// `word` in the hypervisor's form.
std::string resolve(const std::string& word, const Bytes& tree) {
    if (word == "all" || word == "none") {
        return word;
    }
    if (is_range(word)) {
        return plain_range(word);
    }
    const auto aliases = tree::aliases(tree);
    if (aliases.contains(word) || tree::TreeNodes(tree).find(word) != tree::TreeNodes::none) {
        return word;
    }
    const std::vector<std::string> all = device_paths(tree);
    const auto matches = tree::paths_called(word, aliases, {all.begin(), all.end()});
    if (matches.size() != 1) {
        unknown("--trace", word, tree);
    }
    return std::string(matches.front());
}

} // namespace

std::vector<std::string> device_paths(const Bytes& tree) {
    const tree::TreeNodes nodes(tree);
    std::vector<std::string> paths;
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        if (nodes.has(node, "reg") && !nodes.is_memory(node) && nodes.is_reachable(node)) {
            paths.push_back(nodes.path(node));
        }
    }
    return paths;
}

std::vector<std::string> select_devices(const std::vector<std::string>& arguments,
                                        const Bytes& tree) {
    std::vector<std::string> words = split(arguments);
    for (std::string& word : words) {
        const bool exclude = word.starts_with('!');
        word = (exclude ? "!" : "") + resolve(word.substr(exclude ? 1 : 0), tree);
    }
    return words;
}

StackChoice choose_stacks(std::string_view text, const Bytes& tree) {
    const std::size_t colon = text.find(':');
    const bool sized = colon != std::string_view::npos;
    const auto size = sized ? parse_size(text.substr(0, colon)) : abi::default_stack;
    if (!size || *size == 0 || *size % 4 != 0 || *size > abi::most_stack) {
        throw bad_input("--stack {}: a stack has a multiple of 4 bytes, up to {}", text,
                        abi::most_stack);
    }
    StackChoice choice{static_cast<std::uint32_t>(*size), {}};
    const std::vector<std::string> paths = device_paths(tree);
    for (const std::string& word : split({std::string(text.substr(sized ? colon + 1 : 0))})) {
        const auto called =
            word == "all" || word == "calls"
                ? std::vector<std::string_view>{word}
                : tree::paths_called(word, tree::aliases(tree), {paths.begin(), paths.end()});
        if (called.empty()) {
            unknown("--stack", word, tree);
        }
        choice.devices.insert(choice.devices.end(), called.begin(), called.end());
    }
    if (choice.devices.empty()) {
        throw bad_input("--stack {}: there is no device", text);
    }
    return choice;
}

namespace {

/// The path if it fits, otherwise its end after "~", as in a trace.
void set_path(std::string path, abi::RegionEntry& region) {
    if (path.size() >= abi::path_size) {
        path = "~" + path.substr(path.size() - (abi::path_size - 2));
    }
    path.copy(region.path, path.size());
}

void add_node(const tree::TreeNodes& tree, std::size_t node, std::vector<abi::RegionEntry>& to) {
    constexpr std::uint64_t reach = std::uint64_t{1} << 32;
    std::uint16_t index = 0;
    for (const auto& [base, size] : tree.reg(node)) {
        if (size == 0) {
            return; // the hypervisor stops here, too
        }
        abi::RegionEntry region{};
        region.base = base;
        region.size = size;
        region.reg_index = index++;
        set_path(tree.path(node), region);
        if (base < reach && size <= reach - base) {
            to.push_back(region);
        }
    }
}

} // namespace

wire::StreamHead tree_devices(const Bytes& tree) {
    wire::StreamHead head{};
    const tree::TreeNodes nodes(tree);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        if (!nodes.is_memory(node)) {
            add_node(nodes, node, head.regions);
        }
    }
    head.aliases = tree::aliases(tree);
    return head;
}

} // namespace mmioscope::run
