#include "control/relay.hpp"

#include "system/error.hpp"

namespace mmioscope::control {

using namespace std::chrono_literals;

Relay::Relay(const std::string& path, ToWire to_wire)
    : client_(transport::make_transport(transport::parse_address("unix:" + path + ",listen"), 0)),
      to_wire_(std::move(to_wire)), buffer_(4096) {
    (void)client_.open(0ms);
}

void Relay::pass(std::span<const std::byte> from_wire) {
    if (!client_.is_open() && !client_.open(0ms)) {
        return;
    }
    try {
        if (!from_wire.empty()) {
            (void)client_.write(from_wire, 0ms); // the client loses frames that it does not take
        }
        const transport::ReadResult result = client_.read(buffer_, 0ms);
        if (result.outcome == transport::Outcome::bytes) {
            to_wire_(std::span<const std::byte>(buffer_).first(result.size));
        }
    } catch (const Error&) { // it is gone: wait for the next one
        (void)client_.open(0ms);
    }
}

} // namespace mmioscope::control
