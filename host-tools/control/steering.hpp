// Carries out the commands of a user over any channel to the hypervisor.
#pragma once

#include "control/words.hpp"

#include <string>

namespace mmioscope::control {

/// The way to the hypervisor and back.
class Channel {
public:
    virtual ~Channel() = default;

    /// Sends a request and waits for its reply. Throws Error (failed) if there is none.
    virtual abi::control::Reply ask(const abi::control::Request& request) = 0;
};

/// Carries out `words`. Returns what there is to say, lines; empty if it was simply done. Throws
/// Error: bad_input as asks_of() does, failed if the hypervisor refuses. What came before the
/// refused request has happened then.
std::string carry_out(std::span<const std::string> words, const FindDevice& find, Channel& channel);

/// Why a request was refused.
std::string status_text(abi::control::Status status);

} // namespace mmioscope::control
