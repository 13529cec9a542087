#include "control/relay.hpp"

#include "abi/control.hpp"
#include "system/error.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <random>

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

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr auto again_after = 1s; ///< if a request is not answered
constexpr auto write_patience = 1s;

} // namespace

WireChannel::WireChannel(wire::Transport& wire, milliseconds patience)
    : wire_(wire), patience_(patience), decoder_(*this), buffer_(64 * 1024) {
    constexpr std::byte zero{0}; // the first bytes may be the middle of a frame
    decoder_.feed(std::span(&zero, 1));
}

void WireChannel::send(const abi::control::Request& request) {
    const auto bytes = std::as_bytes(std::span(&request, 1));
    if (wire_.write(bytes, write_patience) != bytes.size()) {
        throw failure("cannot write to {}: nothing reads it, or flow control has stopped it",
                      wire_.name());
    }
}

/// Reads what arrives, until `until`.
void WireChannel::listen(Clock::time_point until) {
    const auto left = duration_cast<milliseconds>(until - Clock::now());
    const wire::ReadResult result = wire_.read(buffer_, std::clamp(left, 0ms, 50ms));
    if (result.outcome == wire::Outcome::bytes) {
        decoder_.feed(std::span(buffer_).first(result.size));
    } else if (result.outcome != wire::Outcome::nothing) {
        throw failure("{}: {} before a reply came", wire_.name(),
                      result.why.empty() ? "it ended" : result.why);
    }
}

abi::control::Reply WireChannel::ask(const abi::control::Request& request) {
    const Clock::time_point give_up = Clock::now() + patience_;
    while (Clock::now() < give_up) {
        reply_.reset();
        send(request);
        const Clock::time_point until = std::min(give_up, Clock::now() + again_after);
        while (Clock::now() < until) {
            listen(until);
            if (reply_ && reply_->id == request.id) {
                return *reply_;
            }
        }
    }
    throw failure(
        "no reply from {} within {} s: there is no hypervisor with a stream, control is off, "
        "or the guest neither idles nor accesses a traced device",
        wire_.name(), duration_cast<std::chrono::seconds>(patience_).count());
}

const wire::StreamHead& WireChannel::head() {
    const Clock::time_point give_up = Clock::now() + patience_;
    // A new id for each try: a piece may be lost, and the next try is another request. So is the
    // next call of the program.
    auto id = static_cast<std::uint16_t>(std::random_device()());
    while (!head_ && Clock::now() < give_up) {
        ask(abi::control::make_request(abi::control::Command::hello, id++));
        const Clock::time_point until = std::min(give_up, Clock::now() + again_after);
        while (!head_ && Clock::now() < until) {
            listen(until);
        }
    }
    if (!head_) {
        throw failure("{}: the list of devices did not arrive within {} s", wire_.name(),
                      duration_cast<std::chrono::seconds>(patience_).count());
    }
    return *head_;
}

} // namespace mmioscope::control
