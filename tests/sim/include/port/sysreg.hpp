// Host twin of hyp/core/port/sysreg.hpp: registers of the simulated CPU, by encoding.
#pragma once

#include "arch/sysreg.hpp"
#include "sim/port.hpp"

namespace mmioscope::port {

template <class R>
inline typename R::Value read() {
    return static_cast<typename R::Value>(sim::read_register(sim::encoding_of<R>()));
}

template <class R>
inline std::uint32_t read_or_zero() {
    return read<R>();
}

template <class R>
inline void write(typename R::Value v) {
    sim::write_register(sim::encoding_of<R>(), v);
}

} // namespace mmioscope::port
