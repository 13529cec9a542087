#include "wire/address.hpp"

#include "system/error.hpp"

#include <sys/un.h>

#include <charconv>
#include <cstdint>

namespace mmioscope::wire {

namespace {

/// Removes `prefix` from the start of `text`, if it is there.
bool remove_prefix(std::string_view& text, std::string_view prefix) {
    const bool found = text.starts_with(prefix);
    text.remove_prefix(found ? prefix.size() : 0);
    return found;
}

/// Removes the option at the end of a socket's address.
void read_options(std::string_view& rest, Address& address) {
    constexpr std::string_view option = ",listen";
    address.listen = rest.ends_with(option);
    rest.remove_suffix(address.listen ? option.size() : 0);
}

void parse_unix(std::string_view rest, Address& address) {
    address.kind = Kind::unix_socket;
    read_options(rest, address);
    if (rest.empty()) {
        throw bad_input("'{}': the path of the socket is missing", address.text);
    }
    if (rest.size() >= sizeof(sockaddr_un::sun_path)) {
        throw bad_input("'{}': the path of a socket has at most {} bytes", address.text,
                        sizeof(sockaddr_un::sun_path) - 1);
    }
    address.path = rest;
}

bool is_port(std::string_view text, bool listen) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc{} && end == text.data() + text.size() && (port != 0 || listen);
}

void parse_tcp(std::string_view rest, Address& address) {
    address.kind = Kind::tcp;
    read_options(rest, address);
    if (const std::size_t comma = rest.find(','); comma != std::string_view::npos) {
        throw bad_input("'{}': unknown option '{}'; the only option is 'listen'", address.text,
                        rest.substr(comma + 1));
    }
    const std::size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos) {
        throw bad_input("'{}': the port is missing; use tcp:HOST:PORT", address.text);
    }
    std::string_view host = rest.substr(0, colon);
    address.port = rest.substr(colon + 1);
    if (!is_port(address.port, address.listen)) {
        throw bad_input("'{}': '{}' is not a port (1 to 65535)", address.text, address.port);
    }
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    } else if (host.find_first_of(":[]") != std::string_view::npos) {
        throw bad_input("'{}': put an IPv6 address in brackets: [ADDRESS]", address.text);
    }
    if (host.empty() && !address.listen) {
        throw bad_input("'{}': the host is missing; use tcp:HOST:PORT", address.text);
    }
    address.host = host;
}

} // namespace

Address parse_address(std::string_view text) {
    Address address;
    address.text = text;
    std::string_view rest = text;
    if (text.empty()) {
        throw bad_input("the source is empty: give a path, unix:PATH, tcp:HOST:PORT or -");
    }
    if (text.find('\0') != std::string_view::npos) {
        throw bad_input("the source contains a zero byte");
    }
    if (text == "-") {
        address.kind = Kind::standard_input;
    } else if (remove_prefix(rest, "unix:")) {
        parse_unix(rest, address);
    } else if (remove_prefix(rest, "tcp:")) {
        parse_tcp(rest, address);
    } else {
        address.path = text;
    }
    return address;
}

} // namespace mmioscope::wire
