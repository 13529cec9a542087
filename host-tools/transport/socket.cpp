// Stream sockets, both the connecting and the listening side.
#include "transport/socket_name.hpp"

#include "system/error.hpp"
#include "transport/opener.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mmioscope::transport {

namespace {

Error refused(const Address& address, const char* what, int error) {
    return bad_input("{}: cannot {}: {}", address.text, what, std::strerror(error));
}

FileDescriptor new_socket(const SocketName& name) {
    return FileDescriptor(::socket(name.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool wait_for(const FileDescriptor& file, short events, Patience patience) {
    pollfd wait{file.get(), events, 0};
    return ::poll(&wait, 1, static_cast<int>(patience.count())) > 0;
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

/// Accepts one sender at a time; the next one waits in the kernel's queue.
class Server : public Opener {
public:
    explicit Server(const Address& address) : address_(address), names_(socket_names(address)) {}

    ~Server() override {
        if (listener_ && !address_.path.empty()) {
            ::unlink(address_.path.c_str());
        }
    }

    Opened open(Patience patience) override {
        if (!listener_) {
            listen();
        }
        if (!wait_for(listener_, POLLIN, patience)) {
            return {};
        }
        FileDescriptor file(
            ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        return file ? connected(std::move(file)) : Opened{}; // closed again before it was accepted
    }

private:
    void listen() {
        const SocketName& name = names_.front();
        FileDescriptor file = new_socket(name);
        const int on = 1;
        ::setsockopt(file.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        remove_leftover(name);
        if (::bind(file.get(), name.get(), name.size()) != 0 || ::listen(file.get(), 4) != 0) {
            throw refused(address_, "listen", errno);
        }
        fmt::print(stderr, "mmioscope: listening on {}\n", bound_name(file.get(), address_));
        listener_ = std::move(file);
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
    FileDescriptor listener_;
};

} // namespace

std::unique_ptr<Opener> open_socket(const Address& address) {
    if (address.listen) {
        return std::make_unique<Server>(address);
    }
    return std::make_unique<Client>(address);
}

} // namespace mmioscope::transport
