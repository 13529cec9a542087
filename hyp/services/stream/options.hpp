// The options of the stream (abi/layout.hpp).
#pragma once

#include "abi/fold.hpp"
#include "abi/chosen.hpp"
#include "dt/tree.hpp"

namespace mmioscope {

struct StreamOptions {
    int node{-1}; ///< of the UART; negative: no stream
    std::uint32_t baud{abi::default_stream_baud};
    std::uint32_t quantum{abi::default_stream_quantum}; ///< ns
    bool paced{};
    bool shared{}; ///< the UART remains the guest's, too
    abi::Fold fold{abi::Fold::off};
};

/// Reads the options mmioscope,stream*.
BootError read_stream_options(const Tree& tree, StreamOptions& options);

} // namespace mmioscope
