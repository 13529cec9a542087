#include "wire/socket_name.hpp"

#include "system/error.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

namespace mmioscope::wire {

namespace {

SocketName unix_name(const std::string& path) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof name.sun_path - 1); // its length was checked: parse_address()
    return {&name, sizeof name};
}

std::vector<SocketName> tcp_names(const Address& address) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = address.listen ? AI_PASSIVE : 0;
    addrinfo* first = nullptr;
    const int error = ::getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(),
                                    address.port.c_str(), &hints, &first);
    if (error != 0) {
        throw bad_input("{}: {}", address.text, ::gai_strerror(error));
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(first, ::freeaddrinfo);
    std::vector<SocketName> names;
    for (const addrinfo* one = first; one != nullptr; one = one->ai_next) {
        const SocketName name(one->ai_addr, one->ai_addrlen);
        if (std::ranges::find(names, name) == names.end()) {
            names.push_back(name);
        }
    }
    return names;
}

} // namespace

SocketName::SocketName(const void* bytes, socklen_t size) : size_(size) {
    std::memcpy(&storage_, bytes, size);
}

// At the same offset for IPv4 and IPv6.
void SocketName::set_port(std::uint16_t port) {
    static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
    if (family() == AF_INET || family() == AF_INET6) {
        const in_port_t bytes = htons(port);
        std::memcpy(reinterpret_cast<char*>(&storage_) + offsetof(sockaddr_in, sin_port), &bytes,
                    sizeof bytes);
    }
}

bool SocketName::operator==(const SocketName& other) const {
    return size_ == other.size_ && std::memcmp(&storage_, &other.storage_, size_) == 0;
}

std::vector<SocketName> socket_names(const Address& address) {
    if (address.kind == Kind::unix_socket) {
        return {unix_name(address.path)};
    }
    return tcp_names(address);
}

std::uint16_t bound_port(int fd) {
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
    if (name.ss_family != AF_INET && name.ss_family != AF_INET6) {
        return 0;
    }
    in_port_t port = 0;
    std::memcpy(&port, reinterpret_cast<const char*>(&name) + offsetof(sockaddr_in, sin_port),
                sizeof port);
    return ntohs(port);
}

std::string bound_name(int fd, const Address& address) {
    if (address.kind == Kind::unix_socket) {
        return "unix:" + address.path;
    }
    const bool brackets = address.host.find(':') != std::string::npos;
    return fmt::format("tcp:{}{}{}:{}", brackets ? "[" : "", address.host, brackets ? "]" : "",
                       bound_port(fd));
}

} // namespace mmioscope::wire
