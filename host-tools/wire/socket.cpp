#include "system/error.hpp"
#include "system/message.hpp"
#include "wire/address.hpp"
#include "wire/transport.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace mmioscope::wire {

// A socket address in the kernel's form.

class SocketName {
public:
    SocketName(const void* bytes, socklen_t size);

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
    socklen_t size() const { return size_; }
    int family() const { return storage_.ss_family; }
    /// Does nothing to the name of a unix socket.
    void set_port(std::uint16_t port);
    bool operator==(const SocketName& other) const;

private:
    sockaddr_storage storage_{};
    socklen_t size_;
};

/// At least one, none twice; a host may have several. Throws Error (bad_input) if the host does not
/// exist.
std::vector<SocketName> socket_names(const Address& address);

/// The port of the socket `fd`; of a unix socket 0.
std::uint16_t bound_port(int fd);

/// The address at which others reach the listening socket `fd`: `address` with its actual port.
std::string bound_name(int fd, const Address& address);

// Stream sockets, both the connecting and the listening side.

namespace {

Error refused(const Address& address, const char* what, int error) {
    return bad_input("{}: cannot {}: {}", address.text, what, std::strerror(error));
}

FileDescriptor new_socket(const SocketName& name) {
    return FileDescriptor(::socket(name.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// As poll() takes them; whoever wants to wait longer asks again.
int milliseconds(Patience patience) {
    return static_cast<int>(std::clamp<Patience::rep>(patience.count(), 0, 60'000));
}

bool wait_for(const FileDescriptor& file, short events, Patience patience) {
    pollfd wait{file.get(), events, 0};
    return ::poll(&wait, 1, milliseconds(patience)) > 0;
}

// Without data, notices a vanished peer (power, cable) after about 25 s. Other sockets lack these
// options, and do not need them.
void watch_peer(const FileDescriptor& file) {
    const auto set = [&file](int level, int option, int value) {
        ::setsockopt(file.get(), level, option, &value, sizeof value);
    };
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

Opened connected(FileDescriptor file) {
    watch_peer(file);
    return {std::move(file), false, true};
}

/// Tries the addresses of the other side one after the other.
class Client : public Opener {
public:
    explicit Client(const Address& address) : address_(address), names_(socket_names(address)) {}

    Opened open(Patience patience) override {
        int error = 0;
        while (pending_ || next_ < names_.size()) {
            if (!pending_) {
                error = start(names_[next_++]);
            } else if (wait_for(pending_, POLLOUT, patience)) {
                error = result();
            } else {
                return {};
            }
            if (pending_ && error == 0) {
                next_ = 0;
                return connected(std::exchange(pending_, {}));
            }
            if (error != EINPROGRESS) {
                pending_ = FileDescriptor();
            }
        }
        next_ = 0;
        throw refused(address_, "connect", error);
    }

private:
    // EINPROGRESS: connect() continues in `pending_`.
    int start(const SocketName& name) {
        pending_ = new_socket(name);
        const bool done = pending_ && ::connect(pending_.get(), name.get(), name.size()) == 0;
        return done ? 0 : errno;
    }

    int result() const {
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(pending_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        return error;
    }

    Address address_;
    std::vector<SocketName> names_;
    std::size_t next_ = 0;
    FileDescriptor pending_;
};

/// Accepts one sender at a time; the next one waits in the kernel's queue. Listens on all addresses
/// of its name.
class Server : public Opener {
public:
    explicit Server(const Address& address) : address_(address), names_(socket_names(address)) {}

    // Another program may have the path by now.
    ~Server() override {
        struct stat status {};
        if (!listeners_.empty() && ::lstat(address_.path.c_str(), &status) == 0 &&
            status.st_dev == file_.st_dev && status.st_ino == file_.st_ino) {
            ::unlink(address_.path.c_str());
        }
    }

    Opened open(Patience patience) override {
        if (listeners_.empty()) {
            listen();
        }
        std::vector<pollfd> waits;
        for (const FileDescriptor& listener : listeners_) {
            waits.push_back({listener.get(), POLLIN, 0});
        }
        ::poll(waits.data(), waits.size(), milliseconds(patience));
        for (const pollfd& wait : waits) {
            FileDescriptor file(wait.revents == 0 ? -1
                                                  : ::accept4(wait.fd, nullptr, nullptr,
                                                              SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (file) { // otherwise closed again before it was accepted
                return connected(std::move(file));
            }
        }
        return {};
    }

private:
    // A machine may lack a protocol that one of the addresses needs, but not all.
    void listen() {
        std::vector<FileDescriptor> listeners;
        int error = 0;
        for (SocketName& name : names_) {
            if (!listeners.empty()) {
                name.set_port(bound_port(listeners.front().get())); // of tcp:HOST:0
            }
            FileDescriptor file = bound_to(name);
            if (file) {
                listeners.push_back(std::move(file));
                continue;
            }
            error = errno;
            if (error != EAFNOSUPPORT && error != EADDRNOTAVAIL) {
                throw refused(address_, "listen", error);
            }
        }
        if (listeners.empty()) {
            throw refused(address_, "listen", error);
        }
        print_message("mmioscope: listening on {}\n",
                      for_terminal(bound_name(listeners.front().get(), address_)));
        (void)::lstat(address_.path.c_str(), &file_);
        listeners_ = std::move(listeners);
    }

    /// None, and errno: it cannot listen there.
    FileDescriptor bound_to(const SocketName& name) const {
        FileDescriptor file = new_socket(name);
        const int on = 1;
        ::setsockopt(file.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (name.family() == AF_INET6) { // IPv4 has a socket of its own
            ::setsockopt(file.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
        }
        remove_leftover(name);
        const bool good = file && ::bind(file.get(), name.get(), name.size()) == 0 &&
                          ::listen(file.get(), 4) == 0;
        return good ? std::move(file) : FileDescriptor();
    }

    // The file of a unix socket outlives a process that was killed: nobody listens, but it blocks
    // the name. Connecting to a file that is not a socket gives the same error.
    void remove_leftover(const SocketName& name) const {
        struct stat status {};
        if (address_.path.empty() || ::stat(address_.path.c_str(), &status) != 0 ||
            !S_ISSOCK(status.st_mode)) {
            return;
        }
        const FileDescriptor probe = new_socket(name);
        if (::connect(probe.get(), name.get(), name.size()) != 0 && errno == ECONNREFUSED) {
            ::unlink(address_.path.c_str());
        }
    }

    Address address_;
    std::vector<SocketName> names_;
    std::vector<FileDescriptor> listeners_;
    struct stat file_ {}; ///< of a unix socket
};

} // namespace

std::unique_ptr<Opener> open_socket(const Address& address) {
    if (address.listen) {
        return std::make_unique<Server>(address);
    }
    return std::make_unique<Client>(address);
}

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
