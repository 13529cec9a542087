// Requests that arrive on a line: found among any bytes, carried out once, answered.
#include "stream/request_line.hpp"

#include "catch_2_or_3.hpp"
#include "sim/simulation.hpp"
#include "start/crc32.hpp"
#include "unit/stream/incoming_line.hpp"

#include <cstring>

using namespace mmioscope;
using namespace mmioscope::sim;
using abi::control::Command;
using abi::control::make_request;
using abi::control::Reply;
using abi::control::Request;

namespace {

struct Fixture {
    Fixture() { requests.start(line); }

    /// The next request, after `traps` traps.
    const Request* take(unsigned traps = 1) {
        const Request* request = nullptr;
        while (request == nullptr && traps-- > 0) request = requests.take(0);
        return request;
    }
    bool take_reply(Reply& reply) { return requests.take_reply(reply); }

    Simulation simulation{Conditions{}};
    IncomingLine line;
    RequestLine requests;
};

} // namespace

TEST_CASE("a request on the line is taken once, and its reply is passed on once") {
    Fixture f;
    CHECK(f.take() == nullptr);
    f.line.add(make_request(Command::marker, 7, 1, 2));
    const Request* request = f.take();
    REQUIRE(request != nullptr);
    CHECK(request->id == 7);
    CHECK(f.requests.take(1) == nullptr); // CPU 0 has it
    Reply reply{};
    CHECK(!f.take_reply(reply));
    f.requests.answer({1, abi::control::Status::done, 7, {3, 4}, 5});
    REQUIRE(f.take_reply(reply));
    CHECK((reply.id == 7 && reply.value[1] == 4));
    CHECK(!f.take_reply(reply));
    CHECK(f.take() == nullptr);
}

TEST_CASE("a request that could not be carried out is offered again, to any CPU") {
    Fixture f;
    f.line.add(make_request(Command::stop, 7));
    REQUIRE(f.take() != nullptr);
    f.requests.later();
    const Request* request = f.requests.take(1);
    REQUIRE(request != nullptr);
    CHECK(request->command == Command::stop);
}

TEST_CASE("a repeated request is answered again, and not carried out again") {
    Fixture f;
    Reply reply{};
    for (int times = 0; times < 3; ++times) {
        f.line.add(make_request(Command::marker, 7, 1, 2));
        const Request* request = f.take();
        CHECK((request != nullptr) == (times == 0));
        if (request != nullptr) f.requests.answer({1, abi::control::Status::done, 7, {3, 4}, 5});
        REQUIRE(f.take_reply(reply));
        CHECK(reply.value[0] == 3);
    }
    f.line.add(make_request(Command::marker, 8, 1, 2));
    CHECK(f.take() != nullptr);
}

TEST_CASE("while a reply waits, the next request stays in the UART") {
    Fixture f;
    f.line.add(make_request(Command::marker, 7));
    f.line.add(make_request(Command::marker, 8));
    REQUIRE(f.take() != nullptr);
    f.requests.answer({});
    CHECK(f.take(5) == nullptr);
    CHECK(f.line.bytes.size() == sizeof(Request));
    Reply reply{};
    REQUIRE(f.take_reply(reply));
    REQUIRE(f.take() != nullptr);
}

TEST_CASE("noise and pieces of requests are no request, and no whole request is lost to them") {
    Fixture f;
    Random random{5};
    for (unsigned round = 0; round < 500; ++round) {
        const auto id = static_cast<std::uint16_t>(round);
        const Request whole = make_request(Command::marker, id, round);
        for (unsigned n = random.below(40); n > 0; --n)
            f.line.bytes.push_back(static_cast<std::uint8_t>(random.next()));
        f.line.add(whole, random.below(sizeof whole)); // broken off
        Request changed = whole;
        reinterpret_cast<std::uint8_t*>(&changed)[random.below(sizeof changed)] ^=
            static_cast<std::uint8_t>(1 + random.below(255));
        f.line.add(changed);
        f.line.add(whole);
        const Request* request = f.take(20);
        REQUIRE(request != nullptr);
        REQUIRE(std::memcmp(request, &whole, sizeof whole) == 0);
        f.requests.answer({});
        Reply reply{};
        REQUIRE(f.take_reply(reply));
    }
}

TEST_CASE("a trap reads no more than a request's bytes") {
    Fixture f;
    f.line.bytes.assign(100, 0x55);
    CHECK(f.take() == nullptr);
    CHECK(f.line.bytes.size() == 100 - sizeof(Request));
}
