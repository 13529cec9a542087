// Every kind of transport with a real other end: bytes in both directions, silence, loss, and
// reconnection.
#include "system/error.hpp"
#include "wire/transport.hpp"
#include "wires.hpp"

#include <fcntl.h>
#include <termios.h>

#include <fstream>

using namespace mmioscope;
using namespace mmioscope::test;
using wire::Outcome;
using wire::Transport;

namespace {

// All 256 bytes, more than once: a terminal that is not raw would change some.
std::string every_byte() {
    std::string text;
    for (int i = 0; i < 1024; ++i) {
        text += static_cast<char>(i * 7);
    }
    return text;
}

Outcome outcome(Transport& wire, wire::Patience patience = long_enough) {
    std::byte byte[1];
    return wire.read(byte, patience).outcome;
}

void check_bytes(Transport& wire, const FileDescriptor& sender) {
    const std::string bytes = every_byte();
    CHECK(outcome(wire, soon) == Outcome::nothing);
    send(sender.get(), bytes);
    CHECK(receive(wire, bytes.size()) == bytes);
    CHECK(outcome(wire, soon) == Outcome::nothing);
}

void check_loss(Transport& wire) {
    CHECK(outcome(wire) == Outcome::lost);
    CHECK(!wire.is_open());
    CHECK(outcome(wire) == Outcome::lost);
    CHECK(wire.write(as_bytes("x"), soon) == 0);
}

// The loss is visible only after the last byte.
void check_sender(Transport& wire, FileDescriptor sender) {
    check_bytes(wire, sender);
    send(sender.get(), "last");
    sender = FileDescriptor();
    CHECK(receive(wire, 4) == "last");
    check_loss(wire);
}

void check_writing(Transport& wire, const FileDescriptor& other) {
    const std::string bytes = every_byte();
    CHECK(wire.write(as_bytes(bytes), long_enough) == bytes.size());
    CHECK(received_by(other.get(), bytes.size()) == bytes);
}

} // namespace

TEST_CASE("a file ends at its end") {
    const Folder folder;
    std::ofstream(folder / "a") << every_byte();
    Transport wire = wire_at(folder / "a");
    REQUIRE(wire.open(soon));
    CHECK(receive(wire, 1024) == every_byte());
    CHECK(outcome(wire) == Outcome::end);
    REQUIRE(wire.open(soon)); // from the start again
    CHECK(receive(wire, 1024) == every_byte());
    CHECK_THROWS_AS(wire.write(as_bytes("x"), soon), Error);
}

TEST_CASE("a device that is not a terminal ends like a file") {
    Transport wire = wire_at("/dev/null");
    REQUIRE(wire.open(soon));
    CHECK(outcome(wire) == Outcome::end);
}

TEST_CASE("a pty carries every byte, both ways") {
    Pty pty;
    Transport wire = wire_at(pty.path);
    REQUIRE(wire.open(soon));
    pty.slave = FileDescriptor();
    check_writing(wire, pty.master);
    check_bytes(wire, pty.master);
    pty.master = FileDescriptor(); // the kernel drops unread bytes
    check_loss(wire);
    CHECK_THROWS_AS(wire.open(soon), Error);
}

TEST_CASE("a FIFO waits for a writer, and then for the next one") {
    const Folder folder;
    const std::string path = folder / "fifo";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    Transport wire = wire_at(path);
    for (int round = 0; round < 3; ++round) {
        REQUIRE(wire.open(soon));
        check_sender(wire, FileDescriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK)));
    }
    REQUIRE(wire.open(soon));
    CHECK_THROWS_AS(wire.write(as_bytes("x"), soon), Error);
}

TEST_CASE("a FIFO's writer always finds a reader, and loses nothing") {
    const Folder folder;
    const std::string path = folder / "fifo";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    Transport wire = wire_at(path);
    REQUIRE(wire.open(soon));
    send(FileDescriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK)).get(), "a");
    CHECK(receive(wire, 1) == "a");
    CHECK(outcome(wire) == Outcome::lost);
    FileDescriptor next(::open(path.c_str(), O_WRONLY | O_NONBLOCK)); // ENXIO without a reader
    REQUIRE(next);
    send(next.get(), "between");
    next = FileDescriptor();
    REQUIRE(wire.open(soon));
    CHECK(receive(wire, 7) == "between");
}

TEST_CASE("a unix socket connects") {
    const Folder folder;
    const FileDescriptor listener = unix_listener(folder / "s");
    Transport wire = wire_at("unix:" + (folder / "s"));
    for (int round = 0; round < 3; ++round) {
        REQUIRE(wire.open(soon));
        FileDescriptor sender = accepted(listener);
        check_writing(wire, sender);
        check_sender(wire, std::move(sender));
    }
}

TEST_CASE("a unix socket listens") {
    const Folder folder;
    const std::string path = folder / "s";
    unix_listener(path); // a killed process left its file
    {
        Transport wire = wire_at("unix:" + path + ",listen");
        for (int round = 0; round < 3; ++round) {
            CHECK(!wire.open(soon));
            FileDescriptor sender = unix_client(path);
            REQUIRE(wire.open(long_enough));
            check_writing(wire, sender);
            check_sender(wire, std::move(sender));
        }
        CHECK_THROWS_AS(wire_at("unix:" + path + ",listen").open(soon), Error); // in use by us
    }
    CHECK(!std::filesystem::exists(path));
}

TEST_CASE("a listener that ends does not remove the socket that another has there by then") {
    const Folder folder;
    const std::string path = folder / "s";
    FileDescriptor other;
    {
        Transport wire = wire_at("unix:" + path + ",listen");
        CHECK(!wire.open(soon));
        std::filesystem::remove(path);
        other = unix_listener(path);
    }
    CHECK(std::filesystem::exists(path));
}

TEST_CASE("listening does not remove a file that is not a socket") {
    const Folder folder;
    std::ofstream(folder / "precious") << "data";
    CHECK_THROWS_AS(wire_at("unix:" + (folder / "precious") + ",listen").open(soon), Error);
    CHECK(std::filesystem::exists(folder / "precious"));
}

TEST_CASE("the path of a socket without unix: is explained") {
    const Folder folder;
    const FileDescriptor listener = unix_listener(folder / "s");
    CHECK_THROWS_WITH(wire_at(folder / "s").open(soon), Catch::Contains("use unix:"));
}

TEST_CASE("a tcp socket connects") {
    std::uint16_t port = 0;
    const FileDescriptor listener = tcp_listener(port);
    Transport wire = wire_at(fmt::format("tcp:localhost:{}", port)); // may be [::1] first
    for (int round = 0; round < 3; ++round) {
        REQUIRE(wire.open(long_enough));
        FileDescriptor sender = accepted(listener);
        check_writing(wire, sender);
        check_sender(wire, std::move(sender));
    }
}

TEST_CASE("a tcp socket listens") {
    std::uint16_t port = 0;
    tcp_listener(port); // now free
    Transport wire = wire_at(fmt::format("tcp:127.0.0.1:{},listen", port));
    for (int round = 0; round < 3; ++round) {
        CHECK(!wire.open(soon));
        FileDescriptor sender = tcp_client(port);
        REQUIRE(wire.open(long_enough));
        check_writing(wire, sender);
        check_sender(wire, std::move(sender));
    }
}

TEST_CASE("a tcp socket listens on all addresses of its name, at one port") {
    const FileDescriptor error(::dup(STDERR_FILENO));
    const FileDescriptor said = memory_file("said", 0);
    ::dup2(said.get(), STDERR_FILENO);
    Transport wire = wire_at("tcp::0,listen");
    const bool waits = !wire.open(soon);
    ::dup2(error.get(), STDERR_FILENO);
    REQUIRE(waits);
    std::string text(200, 0);
    text.resize(static_cast<std::size_t>(::pread(said.get(), text.data(), text.size(), 0)));
    const int port = std::stoi(text.substr(text.rfind(':') + 1));
    std::vector<std::string> hosts = {"127.0.0.1"};
    const FileDescriptor probe(::socket(AF_INET6, SOCK_STREAM, 0));
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_addr = in6addr_loopback;
    if (::bind(probe.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0) {
        hosts.emplace_back("[::1]"); // this machine has IPv6
    }
    for (const std::string& host : hosts) {
        INFO(host);
        Transport client = wire_at(fmt::format("tcp:{}:{}", host, port));
        REQUIRE(client.open(long_enough));
        REQUIRE(wire.open(long_enough));
        CHECK(client.write(std::vector(5, std::byte{1}), long_enough) == 5);
        std::vector<std::byte> got(5);
        CHECK(wire.read(got, long_enough).size == 5);
    }
}

TEST_CASE("a connection that is reset is lost, with the reason") {
    std::uint16_t port = 0;
    const FileDescriptor listener = tcp_listener(port);
    Transport wire = wire_at(fmt::format("tcp:127.0.0.1:{}", port));
    REQUIRE(wire.open(long_enough));
    {
        const FileDescriptor sender = accepted(listener);
        const linger now{1, 0};
        ::setsockopt(sender.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    std::byte byte[1];
    const wire::ReadResult result = wire.read(byte, long_enough);
    CHECK(result.outcome == Outcome::lost);
    CHECK(result.why == "Connection reset by peer");
}

TEST_CASE("connecting to a host that does not answer never blocks") {
    std::uint16_t port = 0;
    const FileDescriptor listener = tcp_listener(port);
    REQUIRE(::listen(listener.get(), 0) == 0); // one more is queued, the rest gets no answer
    const std::string address = fmt::format("tcp:127.0.0.1:{}", port);
    Transport first = wire_at(address);
    REQUIRE(first.open(long_enough));
    Transport wire = wire_at(address);
    const auto start = std::chrono::steady_clock::now();
    CHECK(!wire.open(soon));
    CHECK(!wire.open(soon));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
    accepted(listener);
    CHECK(wire.open(long_enough)); // the same attempt continues
}

TEST_CASE("a write to a stalled reader gives up in time") {
    const Folder folder;
    const FileDescriptor listener = unix_listener(folder / "s");
    Transport wire = wire_at("unix:" + (folder / "s"));
    REQUIRE(wire.open(soon));
    const std::string much(8 << 20, 'x');
    const std::size_t taken = wire.write(as_bytes(much), wire::Patience(50));
    CHECK(taken > 0);
    CHECK(taken < much.size());
}
