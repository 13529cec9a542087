// What mmioscope-guest record sends over a socket, and what arrives if the other side goes away and
// comes back.
#include "../../guest-linux/program/connection.hpp"
#include "../../guest-linux/program/wire_output.hpp"
#include "fake_area.hpp"
#include "wire/wire_decoder.hpp"
#include "wires.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>

#include <atomic>
#include <thread>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

using Wire = std::vector<std::byte>;

FileDescriptor as_it_is(FileDescriptor socket) {
    return socket;
}

/// Accepts a few frames at once, and then a part of one.
FileDescriptor small(FileDescriptor socket) {
    const int bytes = 100'000;
    REQUIRE(::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) == 0);
    return socket;
}

/// mmioscope-guest record without a guest: sends `count` records after another.
class Sender {
public:
    explicit Sender(const std::string& address, FileDescriptor (*made)(FileDescriptor) = as_it_is)
        : connection_(wire::parse_address(address), [] { return false; }),
          output_(std::in_place,
                  guest::Sink(
                      made(connection_.open()), address, [] { return false; },
                      [this](const std::string& why) { return connection_.open_again(why); }),
                  rings::Area(memory_.bytes())) {
        ::signal(SIGPIPE, SIG_IGN);
    }

    void send(std::uint32_t count) {
        std::vector<abi::Record> records;
        for (std::uint32_t n = 0; n < count; ++n, ++next_) {
            records.push_back(access(0, next_, 1000 + 10 * next_));
            records.back().value = next_ * 2'654'435'761u; // folding cannot shrink it
        }
        output_->append(records);
        output_->flush();
    }

    /// Also closes the connection.
    void finish() {
        const trace::LossCounter none(1);
        output_->finish({abi::Ending::interrupted, none, {{}}, {next_}, ""});
        doubt_ = output_->doubt();
        output_.reset();
    }

    /// Call it after finish().
    std::string doubt() const { return doubt_; }

private:
    FakeArea memory_{1, 16};
    guest::Connection connection_;
    std::optional<guest::WireOutput> output_;
    std::string doubt_;
    std::uint32_t next_ = 0;
};

struct Heard : wire::WireSink {
    unsigned descriptions = 0;
    std::vector<std::uint32_t> sequences;
    std::vector<abi::EndHeader> ends;

    void hello(const wire::StreamHead&) override { ++descriptions; }
    void records(std::span<const abi::Record> records) override {
        for (const abi::Record& record : records) {
            sequences.push_back(record.cpu_sequence);
        }
    }
    void end(const abi::EndHeader& end, std::span<const abi::Statistics>) override {
        ends.push_back(end);
    }
};

/// A listener to these connections, one after the other.
struct Listener {
    Heard heard;
    wire::WireDecoder decoder{heard};

    explicit Listener(std::initializer_list<const Wire*> connections) {
        for (const Wire* wire : connections) {
            decoder.feed(*wire);
            decoder.finish();
        }
    }

    /// Whether it has exactly those from `from` to `to`, in order.
    bool has_all(std::uint32_t from, std::uint32_t to) const {
        for (const std::uint32_t sequence : heard.sequences) {
            if (sequence != from++) {
                return false;
            }
        }
        return from == to;
    }
};

/// What arrives until the other side ends, up to `most` bytes, or until nothing arrives for
/// `milliseconds`.
Wire received(const FileDescriptor& from, std::size_t most = SIZE_MAX, int milliseconds = 10'000) {
    Wire wire;
    std::byte piece[4096];
    pollfd wait{from.get(), POLLIN, 0};
    while (wire.size() < most && ::poll(&wait, 1, milliseconds) > 0) {
        const ssize_t got = ::read(from.get(), piece, std::min(sizeof piece, most - wire.size()));
        if (got <= 0) {
            break;
        }
        wire.insert(wire.end(), piece, piece + got);
    }
    return wire;
}

/// Waits until no more has arrived for half a second; a minute at most.
void wait_until_full(const FileDescriptor& side) {
    int waiting = 0;
    unsigned same = 0;
    for (unsigned turns = 0; turns < 600 && (same < 5 || waiting < 15'000); ++turns) {
        const int before = waiting;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        CHECK(::ioctl(side.get(), FIONREAD, &waiting) == 0);
        same = before == waiting ? same + 1 : 0;
    }
}

} // namespace

TEST_CASE("guest record: a listener that reconnects between two frames misses nothing") {
    const test::Folder folder;
    const FileDescriptor listener = unix_listener(folder / "w");
    Sender sender("unix:" + (folder / "w"));
    FileDescriptor side = accepted(listener);
    sender.send(1000);
    const Wire first = received(side, SIZE_MAX, 100);
    side = FileDescriptor();
    sender.send(500);
    side = accepted(listener);
    std::thread writer([&] { sender.finish(); });
    const Wire second = received(side);
    side = FileDescriptor();
    writer.join();
    CHECK(sender.doubt() == "the connection was lost 1 times; the other side knows what it lacks");

    const Listener same{&first, &second};
    CHECK(same.has_all(0, 1500));
    CHECK(same.decoder.counts().missing + same.decoder.counts().damaged == 0);
    REQUIRE(same.heard.ends.size() == 1);
    CHECK(same.heard.ends[0].next_sequence[0] == 1500);
    const Listener other{&second};
    CHECK(other.heard.descriptions == 1);
    CHECK(other.has_all(1000, 1500));
    CHECK(other.heard.ends.size() == 1);
}

TEST_CASE("guest record: the frame that a lost connection breaks is sent again, no other twice") {
    const test::Folder folder;
    const FileDescriptor listener = unix_listener(folder / "w");
    Sender sender("unix:" + (folder / "w"), small);
    FileDescriptor side = accepted(listener);
    constexpr std::uint32_t count = 100'000;
    std::thread writer([&] {
        sender.send(count); // does not fit: waits in a frame
        sender.finish();
    });
    wait_until_full(side);
    ::shutdown(side.get(), SHUT_RD); // what the kernel has accepted can still be read
    const Wire first = received(side);
    side = accepted(listener);
    const Wire second = received(side);
    side = FileDescriptor();
    writer.join();

    CHECK(first.back() != std::byte{0});
    const Listener same{&first, &second};
    CHECK(same.has_all(0, count));
    CHECK(same.decoder.counts().missing == 0);
    CHECK(same.decoder.counts().damaged == 1); // the start of the broken one
}

TEST_CASE(
    "guest record: data lost with a connection is a hole in the trace, and nothing is sent twice") {
    std::uint16_t port = 0;
    FileDescriptor listener = tcp_listener(port);
    Sender sender("tcp:127.0.0.1:" + std::to_string(port));
    FileDescriptor side = accepted(listener);
    constexpr std::uint32_t count = 20'000;
    sender.send(count / 2);
    const Wire first = received(side, 20'000);
    side = FileDescriptor(); // with more left unread
    listener = FileDescriptor();
    std::thread writer([&] {
        sender.send(count / 2);
        sender.finish();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    listener = tcp_listener(port);
    side = accepted(listener);
    const Wire second = received(side);
    side = FileDescriptor();
    writer.join();

    const Listener same{&first, &second};
    const std::vector<std::uint32_t>& sequences = same.heard.sequences;
    std::size_t holes = 0;
    std::uint32_t lost = 0;
    for (std::size_t n = 1; n < sequences.size(); ++n) {
        REQUIRE(sequences[n] > sequences[n - 1]);
        holes += sequences[n] == sequences[n - 1] + 1 ? 0 : 1;
        lost += sequences[n] - sequences[n - 1] - 1;
    }
    CHECK(sequences.front() == 0);
    CHECK(sequences.back() == count - 1);
    CHECK(holes == 1);
    CHECK(lost > 0);
    CHECK(same.decoder.counts().missing > 0);
    const Listener other{&second};
    CHECK(other.heard.descriptions == 1);
    CHECK(other.has_all(count - static_cast<std::uint32_t>(other.heard.sequences.size()), count));
}

// Signals are handled only where the program waits, so it must not wait anywhere else.
TEST_CASE("guest record: a stalled reader of a pipe does not keep it from stopping") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const FileDescriptor out(ends[0]);
    std::size_t read = 0;
    unsigned asked = 0;
    const auto read_some = [&] {
        std::byte bytes[40'000];
        read += static_cast<std::size_t>(::read(out.get(), bytes, sizeof bytes));
        ++asked;
        return false;
    };
    guest::Sink sink(FileDescriptor(ends[1]), "-", read_some);
    ::alarm(10); // a blocking write would never return: nobody reads
    CHECK(sink.write(std::vector<std::uint8_t>(150'000, 1)) == 150'000);
    ::alarm(0);
    CHECK(asked >= 2);
    CHECK(read >= 150'000 - 65'536);
}

// The user may turn the machine off next, and what its kernel still has would be lost.
TEST_CASE("guest record: a connection ends when the other side has everything and has closed it") {
    const test::Folder folder;
    const FileDescriptor listener = unix_listener(folder / "w");
    Sender sender("unix:" + (folder / "w"));
    FileDescriptor side = accepted(listener);
    sender.send(1000);
    std::atomic<bool> ended = false;
    std::thread writer([&] {
        sender.finish();
        ended = true;
    });
    const Wire all = received(side);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    CHECK(!ended);
    side = FileDescriptor();
    writer.join();
    CHECK(Listener{&all}.has_all(0, 1000));
}

TEST_CASE("guest record: data that the other side does not take is an error") {
    const test::Folder folder;
    const FileDescriptor listener = unix_listener(folder / "w");
    Sender sender("unix:" + (folder / "w"));
    const FileDescriptor side = accepted(listener);
    sender.send(1000);
    CHECK_THROWS_WITH(sender.finish(), Catch::Contains("has not taken the last "));
}

TEST_CASE("guest record: no frame is sent twice after a break at any place") {
    const std::vector<std::uint8_t> bytes = {1, 2, 3, 0, 4, 5, 0, 6, 0};
    const std::size_t expected[] = {0, 0, 0, 3, 4, 4, 6, 7, 8, 9};
    for (std::size_t done = 0; done <= bytes.size(); ++done) {
        CAPTURE(done);
        CHECK(guest::repeat_from(bytes, done) == expected[done]);
    }
}
