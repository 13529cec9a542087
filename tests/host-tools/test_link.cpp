// A wire that breaks comes back, and this is reported; a file ends at its end.
#include "system/error.hpp"
#include "wires.hpp"

#include <fcntl.h>

#include <chrono>
#include <fstream>

using namespace mmioscope;
using namespace mmioscope::test;
using wire::Link;
using wire::Transport;

namespace {

struct Said {
    std::string lines;
    Link::Say say() {
        return [this](const std::string& line) { lines += line + "\n"; };
    }
};

/// Reads until `size` bytes have arrived, or the end, or for 5 seconds.
std::string read(Link& link, std::size_t size) {
    const auto until = std::chrono::steady_clock::now() + long_enough;
    std::string text;
    while (text.size() < size && !link.over() && std::chrono::steady_clock::now() < until) {
        const std::span<const std::byte> bytes = link.read(soon);
        text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return text;
}

/// Reads until a connection arrives at `listener`.
FileDescriptor taken(Link& link, const FileDescriptor& listener) {
    const auto until = std::chrono::steady_clock::now() + long_enough;
    ::fcntl(listener.get(), F_SETFL, O_NONBLOCK);
    FileDescriptor file;
    while (!file && std::chrono::steady_clock::now() < until) {
        link.read(soon);
        file = FileDescriptor(::accept(listener.get(), nullptr, nullptr));
    }
    REQUIRE(file);
    return file;
}

} // namespace

TEST_CASE("a link reads a file to its end, and no further") {
    const Folder folder;
    const std::string text(200'000, 'x');
    std::ofstream(folder / "a") << text;
    Transport wire = wire_at(folder / "a");
    REQUIRE(wire.open(soon));
    Said said;
    Link link(wire, true, said.say());
    CHECK(read(link, SIZE_MAX) == text);
    CHECK(link.over());
    CHECK(link.why().empty());
    CHECK(link.breaks() == 0);
    CHECK(said.lines.empty());
}

TEST_CASE("a link reopens a socket") {
    const Folder folder;
    const std::string path = folder / "s";
    FileDescriptor listener = unix_listener(path);
    Transport wire = wire_at("unix:" + path);
    REQUIRE(wire.open(soon));
    Said said;
    Link link(wire, true, said.say());
    send(taken(link, listener).get(), "one");
    CHECK(read(link, 3) == "one");
    send(taken(link, listener).get(), "two");
    CHECK(read(link, 3) == "two");
    listener = FileDescriptor(); // nobody listens for a while
    for (int i = 0; i < 30; ++i) {
        CHECK(link.read(soon).empty());
    }
    CHECK(!wire.is_open());
    ::unlink(path.c_str());
    listener = unix_listener(path);
    send(taken(link, listener).get(), "three");
    CHECK(read(link, 5) == "three");
    CHECK(!link.over());
    CHECK(link.breaks() >= 2);
    const std::string lost =
        "unix:" + path + ": closed by the other side; trying to open it again\n";
    CHECK_THAT(said.lines, Catch::StartsWith(lost + "unix:" + path + ": open again\n" + lost));
}

TEST_CASE("without reconnecting, a lost connection is the end, after the last byte") {
    const Folder folder;
    const FileDescriptor listener = unix_listener(folder / "s");
    Transport wire = wire_at("unix:" + (folder / "s"));
    REQUIRE(wire.open(soon));
    Said said;
    Link link(wire, false, said.say());
    send(accepted(listener).get(), "all");
    CHECK(read(link, SIZE_MAX) == "all");
    CHECK(link.over());
    CHECK(link.why() == "closed by the other side");
    CHECK(link.breaks() == 1);
}

TEST_CASE("a peer that closes connections at once is tried less and less often") {
    const Folder folder;
    const FileDescriptor listener = unix_listener(folder / "s");
    ::fcntl(listener.get(), F_SETFL, O_NONBLOCK);
    Transport wire = wire_at("unix:" + (folder / "s"));
    REQUIRE(wire.open(soon));
    Link link(wire, true, [](const std::string&) {});
    unsigned taken = 0;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    while (std::chrono::steady_clock::now() < until) {
        taken += FileDescriptor(::accept(listener.get(), nullptr, nullptr)) ? 1 : 0;
        link.read(soon);
    }
    CHECK(taken >= 4); // at 0, 0, 100, 300, 700 and 1500 ms
    CHECK(taken <= 7);
}

TEST_CASE("a FIFO's writers follow one another without a loss") {
    const Folder folder;
    const std::string path = folder / "fifo";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    Transport wire = wire_at(path);
    REQUIRE(wire.open(soon));
    Link link(wire, true, [](const std::string&) {});
    std::string sent;
    std::string got;
    for (int i = 0; i < 200; ++i) {
        const FileDescriptor writer(::open(path.c_str(), O_WRONLY | O_NONBLOCK));
        REQUIRE(writer); // there is a reader at all times
        send(writer.get(), std::to_string(i));
        sent += std::to_string(i);
        got += i % 3 == 0 ? read(link, sent.size() - got.size()) : "";
        got += i % 3 == 1 ? read(link, 1) : "";
    }
    got += read(link, sent.size() - got.size());
    CHECK(got == sent);
    link.read(soon);
    CHECK(link.breaks() > 0);
}
