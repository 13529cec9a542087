// Carries out a user's commands over any channel to the hypervisor.
#pragma once

#include "control/requests.hpp"

#include <string>

namespace mmioscope::control {

/// The connection to the hypervisor.
class Channel {
public:
    virtual ~Channel() = default;

    /// Sends a request and waits for its reply. Throws Error (failed) if none comes.
    virtual abi::control::Reply ask(const abi::control::Request& request) = 0;
};

/// Carries out `words`. Returns the lines to print; empty if there is nothing to say. Throws Error:
/// bad_input as asks_of() does, failed if the hypervisor refuses a request. The requests before
/// that one have taken effect.
std::string carry_out(std::span<const std::string> words, const FindDevice& find, Channel& channel,
                      const FindCode& code = {});

/// Why the hypervisor refused a request.
std::string status_text(abi::control::Status status);

} // namespace mmioscope::control
