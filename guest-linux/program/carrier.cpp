#include "carrier.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace mmioscope::guest {

namespace {

namespace fs = std::filesystem;

/// Whether both are the same address of one family.
bool same_host(const sockaddr& a, const sockaddr& b) {
    if (a.sa_family != b.sa_family) {
        return false;
    }
    if (a.sa_family == AF_INET) {
        return reinterpret_cast<const sockaddr_in&>(a).sin_addr.s_addr ==
               reinterpret_cast<const sockaddr_in&>(b).sin_addr.s_addr;
    }
    return a.sa_family == AF_INET6 &&
           std::memcmp(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr,
                       &reinterpret_cast<const sockaddr_in6&>(b).sin6_addr, 16) == 0;
}

/// The interface with the socket's own address: its packets leave there.
std::string interface_of(int fd) {
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    ifaddrs* first = nullptr;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0 ||
        ::getifaddrs(&first) != 0) {
        return "";
    }
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(first, ::freeifaddrs);
    for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr != nullptr &&
            same_host(*one->ifa_addr, reinterpret_cast<sockaddr&>(name))) {
            return one->ifa_name;
        }
    }
    return "";
}

/// The folder in sysfs of the device behind `fd`; empty if there is no device.
fs::path device_behind(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) {
        return {};
    }
    std::error_code none;
    if (S_ISREG(status.st_mode)) { // a file system without a disk has a number without a device
        return fs::canonical(
            fmt::format("/sys/dev/block/{}:{}", major(status.st_dev), minor(status.st_dev)), none);
    }
    const std::string interface = S_ISSOCK(status.st_mode) ? interface_of(fd) : "";
    return interface.empty() ? fs::path() : fs::canonical("/sys/class/net/" + interface, none);
}

/// The device tree's path of the device at `folder`; empty if it has none.
std::string node_of(const fs::path& folder) {
    std::error_code none;
    const std::string node = fs::canonical(folder / "of_node", none);
    constexpr std::string_view base = "/devicetree/base";
    const std::size_t at = node.find(base);
    return at == std::string::npos ? "" : node.substr(at + base.size());
}

/// A path that is too long for a region keeps its end, behind "~".
bool is_at(const abi::RegionEntry& region, std::string_view node) {
    const std::string_view path(region.path, ::strnlen(region.path, sizeof region.path));
    return path == node || (path.starts_with('~') && node.ends_with(path.substr(1)));
}

} // namespace

std::vector<std::uint16_t> carrier_of(int fd, std::span<const abi::RegionEntry> regions) {
    std::vector<std::uint16_t> found;
    for (fs::path at = device_behind(fd); found.empty() && at.has_relative_path();
         at = at.parent_path()) {
        const std::string node = node_of(at);
        for (std::size_t i = 0; !node.empty() && i < regions.size(); ++i) {
            if (is_at(regions[i], node)) {
                found.push_back(static_cast<std::uint16_t>(i));
            }
        }
    }
    return found;
}

} // namespace mmioscope::guest
