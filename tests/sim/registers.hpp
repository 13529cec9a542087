// System registers by their encoding: those without side effects just keep what is written.
#pragma once

#include "arch/sysreg.hpp"

#include <cstdint>
#include <unordered_map>

namespace mmioscope::sim {

using Encoding = std::uint32_t;

constexpr Encoding encode32(unsigned coproc, unsigned opc1, unsigned crn, unsigned crm,
                            unsigned opc2) {
    return (1u << 31) | (coproc << 16) | (opc1 << 12) | (crn << 8) | (crm << 4) | opc2;
}
constexpr Encoding encode64(unsigned coproc, unsigned opc1, unsigned crm) {
    return (coproc << 16) | (opc1 << 12) | crm;
}

/// The encoding of a register of arch/sysreg.hpp.
template <class R>
constexpr Encoding encoding_of() {
    if constexpr (sizeof(typename R::Value) == 4)
        return encode32(R::coproc, R::opc1, R::crn, R::crm, R::opc2);
    else return encode64(R::coproc, R::opc1, R::crm);
}

class Registers {
public:
    std::uint64_t get(Encoding which) const {
        const auto found = values_.find(which);
        return found != values_.end() ? found->second : 0;
    }
    void set(Encoding which, std::uint64_t value) { values_[which] = value; }

    template <class R>
    typename R::Value get() const {
        return static_cast<typename R::Value>(get(encoding_of<R>()));
    }
    template <class R>
    void set(typename R::Value value) {
        set(encoding_of<R>(), value);
    }

private:
    std::unordered_map<Encoding, std::uint64_t> values_;
};

} // namespace mmioscope::sim
