// Real other ends of transports, for tests.
#pragma once

#include "catch_2_or_3.hpp"
#include "system/file_descriptor.hpp"
#include "wire/transport.hpp"

#include <netinet/in.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace mmioscope::test {

inline constexpr wire::Patience soon{20};
inline constexpr wire::Patience long_enough{5000};

/// A folder that is deleted with its content.
class Folder {
public:
    Folder() : path_((std::filesystem::temp_directory_path() / "mmioscope-XXXXXX").string()) {
        REQUIRE(::mkdtemp(path_.data()) != nullptr);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const char* name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

struct Pty {
    Pty() {
        char name[128];
        int master = -1;
        int slave = -1;
        REQUIRE(::openpty(&master, &slave, name, nullptr, nullptr) == 0);
        this->master = FileDescriptor(master);
        this->slave = FileDescriptor(slave);
        path = name;
    }
    FileDescriptor master;
    FileDescriptor slave; ///< hides a hang-up from the master until the test has opened the slave
    std::string path;
};

inline void send(int fd, std::string_view text) {
    REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

/// Reads `size` bytes from `wire`; ends the test if they do not arrive.
inline std::string receive(wire::Transport& wire, std::size_t size) {
    std::string text;
    std::byte bytes[7]; // odd: reads end in the middle of writes
    while (text.size() < size) {
        const wire::ReadResult got = wire.read(bytes, long_enough);
        REQUIRE(got.outcome == wire::Outcome::bytes);
        text.append(reinterpret_cast<const char*>(bytes), got.size);
    }
    return text;
}

inline std::span<const std::byte> as_bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// Reads at the test's end, with a time limit.
inline std::string received_by(int fd, std::size_t size) {
    std::string text(size, '\0');
    std::size_t done = 0;
    while (done < size) {
        const ssize_t got = ::read(fd, text.data() + done, size - done);
        REQUIRE(got > 0);
        done += static_cast<std::size_t>(got);
    }
    return text;
}

inline FileDescriptor unix_listener(const std::string& path) {
    FileDescriptor file(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof name.sun_path - 1);
    REQUIRE(::bind(file.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
    REQUIRE(::listen(file.get(), 4) == 0);
    return file;
}

inline FileDescriptor unix_client(const std::string& path) {
    FileDescriptor file(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof name.sun_path - 1);
    REQUIRE(::connect(file.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
    return file;
}

/// Listens on 127.0.0.1; `port` 0: any port.
inline FileDescriptor tcp_listener(std::uint16_t& port) {
    FileDescriptor file(::socket(AF_INET, SOCK_STREAM, 0));
    const int on = 1;
    ::setsockopt(file.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(port);
    socklen_t size = sizeof name;
    REQUIRE(::bind(file.get(), reinterpret_cast<sockaddr*>(&name), size) == 0);
    REQUIRE(::listen(file.get(), 4) == 0);
    ::getsockname(file.get(), reinterpret_cast<sockaddr*>(&name), &size);
    port = ntohs(name.sin_port);
    return file;
}

inline FileDescriptor tcp_client(std::uint16_t port) {
    FileDescriptor file(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(port);
    REQUIRE(::connect(file.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
    return file;
}

inline FileDescriptor accepted(const FileDescriptor& listener) {
    FileDescriptor file(::accept(listener.get(), nullptr, nullptr));
    REQUIRE(file);
    return file;
}

inline wire::Transport wire_at(const std::string& address) {
    return wire::make_transport(wire::parse_address(address), 115200);
}

} // namespace mmioscope::test
