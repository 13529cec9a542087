#include "control/relay.hpp"

#include "abi/control.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace mmioscope::control {

using namespace std::chrono_literals;

Relay::Relay(const std::string& path, ToWire to_wire)
    : listener_(wire::open_socket(wire::parse_address("unix:" + path + ",listen"))),
      to_wire_(std::move(to_wire)) {
    accept();
}

void Relay::accept() {
    for (wire::Opened next = listener_->open(0ms); next.file; next = listener_->open(0ms)) {
        if (clients_.size() == most_clients) {
            clients_.erase(clients_.begin());
        }
        clients_.push_back({std::move(next.file), {}});
    }
}

void Relay::pass(std::span<const std::byte> from_wire) {
    accept();
    std::erase_if(clients_, [&](Client& client) { return !pass(client, from_wire); });
}

// False: it is gone.
bool Relay::pass(Client& client, std::span<const std::byte> from_wire) {
    if (!from_wire.empty()) {
        (void)::send(client.socket.get(), from_wire.data(), from_wire.size(), MSG_NOSIGNAL);
    }
    std::array<std::byte, 4096> bytes;
    const ssize_t size = ::recv(client.socket.get(), bytes.data(), bytes.size(), 0);
    if (size <= 0) {
        return size < 0 && (errno == EAGAIN || errno == EINTR);
    }
    client.begun.insert(client.begun.end(), bytes.begin(), bytes.begin() + size);
    send_requests(client);
    return true;
}

// Only whole ones: those of two clients must not mix on the wire.
void Relay::send_requests(Client& client) {
    const std::size_t whole =
        client.begun.size() - client.begun.size() % sizeof(abi::control::Request);
    if (whole > 0) {
        to_wire_(std::span(client.begun).first(whole));
        client.begun.erase(client.begun.begin(),
                           client.begun.begin() + static_cast<std::ptrdiff_t>(whole));
    }
}

} // namespace mmioscope::control
