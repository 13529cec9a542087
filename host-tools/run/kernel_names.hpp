// What the guest's kernel says of itself in its image, for the trace.
#pragma once

#include "run/options.hpp"

#include <cstddef>
#include <future>
#include <string>
#include <vector>

namespace mmioscope::run {

/// Decoded beside all else: it takes half a second.
class KernelNames {
public:
    explicit KernelNames(const Options& options);

    /// Waits until it is done. What cannot be decoded is said once, on standard error.
    void wait();

    // After wait(); empty if there is none.
    const std::string& banner() const { return names_.banner; }
    const std::vector<std::byte>& symbols() const {
        return names_.symbols;
    } ///< a section's payload

private:
    struct Names {
        std::string banner;
        std::vector<std::byte> symbols;
        std::string why_not; ///< empty: all is well
    };
    static Names decode(const std::string& path);

    std::future<Names> future_; ///< of a bare program none
    Names names_;
};

} // namespace mmioscope::run
