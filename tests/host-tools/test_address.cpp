// Addresses of transports: their meaning; each invalid one is refused in one line.
#include "catch_2_or_3.hpp"
#include "system/error.hpp"
#include "wire/transport.hpp"

using namespace mmioscope;
using namespace mmioscope::wire;

TEST_CASE("each form of an address") {
    CHECK(parse_address("-").kind == Kind::standard_input);
    const Address serial = parse_address("/dev/ttyUSB0");
    CHECK(serial.kind == Kind::path);
    CHECK(serial.path == "/dev/ttyUSB0");
    CHECK(parse_address("udp:1:2").path == "udp:1:2");
    const Address local = parse_address("unix:/run/a:b,listen");
    CHECK(local.kind == Kind::unix_socket);
    CHECK(local.path == "/run/a:b");
    CHECK(local.listen);
    CHECK(parse_address("unix:/run/a,b/c,d").path == "/run/a,b/c,d");
    CHECK(!parse_address("unix:/run/a,b/c,d").listen);
    CHECK(parse_address("unix:/run/a,listen,listen").path == "/run/a,listen");
    const Address tcp = parse_address("tcp:board.local:65535");
    CHECK(tcp.kind == Kind::tcp);
    CHECK(tcp.host == "board.local");
    CHECK(tcp.port == "65535");
    CHECK(!tcp.listen);
    CHECK(parse_address("tcp:[::1]:80").host == "::1");
    CHECK(parse_address("tcp::0,listen").host.empty());
    CHECK(parse_address("tcp::0,listen").text == "tcp::0,listen");
}

TEST_CASE("bad addresses are refused in one line") {
    using Catch::Contains;
    const auto refuses = [](const std::string& text, const std::string& why) {
        try {
            parse_address(text);
            FAIL("'" << text << "' was taken");
        } catch (const Error& error) {
            CHECK(error.status() == Status::bad_input);
            CHECK_THAT(error.what(), Contains(why) && !Contains("\n"));
        }
    };
    refuses("", "is empty");
    refuses(std::string("a\0b", 3), "zero byte");
    refuses("unix:", "the path of the socket is missing");
    refuses("unix:,listen", "the path of the socket is missing");
    refuses("unix:" + std::string(108, 'x'), "at most 107 bytes");
    refuses("tcp:a:1,lisen", "unknown option 'lisen'");
    refuses("tcp:a:1,listen,listen", "unknown option 'listen'");
    refuses("tcp:", "the port is missing");
    refuses("tcp:host", "the port is missing");
    refuses("tcp:host:", "'' is not a port");
    refuses("tcp:host:0", "'0' is not a port");
    refuses("tcp:host:65536", "'65536' is not a port");
    refuses("tcp:host:-1", "'-1' is not a port");
    refuses("tcp:host:80x", "'80x' is not a port");
    refuses("tcp:host:80,", "unknown option ''");
    refuses("tcp::80", "the host is missing");
    refuses("tcp:::1:80", "[ADDRESS]");
    refuses("tcp:[]:80", "[ADDRESS]");
}

TEST_CASE("an address that does not exist is refused in one line that names it") {
    const auto refuses = [](const std::string& text) {
        try {
            Transport wire = make_transport(parse_address(text), 115200);
            wire.open(Patience(5000));
            FAIL("'" << text << "' was opened");
        } catch (const Error& error) {
            CHECK(error.status() == Status::bad_input);
            const std::string path = text.substr(0, 5) == "unix:" ? text.substr(5) : text;
            CHECK_THAT(error.what(), Catch::Contains(path) && !Catch::Contains("\n"));
        }
    };
    refuses("/no/such/device");
    refuses("/");
    refuses("unix:/no/such/socket");
    refuses("unix:/no/such/folder/socket,listen");
    refuses("tcp:127.0.0.1:1");
    refuses("tcp:no-such-host.invalid:80");
}
