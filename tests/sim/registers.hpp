// System registers by encoding: those without side effects keep what is written. A CPU reads back
// its writes at once, but they take effect at any time up to the next context synchronization,
// independently for each register (ARM ARM B3.15.5).
#pragma once

#include "arch/sysreg.hpp"
#include "random.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

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
    /// The effective value.
    std::uint64_t get(Encoding which) const {
        const auto found = values_.find(which);
        return found != values_.end() ? found->second : 0;
    }
    /// As set by hardware: at once.
    void set(Encoding which, std::uint64_t value) { values_[which] = value; }

    template <class R>
    typename R::Value get() const {
        return static_cast<typename R::Value>(get(encoding_of<R>()));
    }
    template <class R>
    void set(typename R::Value value) {
        set(encoding_of<R>(), value);
    }

    /// As written by MCR. `indirect`: the effect of another register's write on this one, which a
    /// read need not see before it has taken effect.
    void write(Encoding which, std::uint64_t value, bool indirect = false);
    /// As read by MRC.
    std::uint64_t read(Encoding which) const;
    /// A value written to `which` that has not taken effect.
    std::optional<std::uint64_t> coming(Encoding which) const;

    /// A context synchronization: all writes take effect.
    void settle();
    /// One of them may take effect now.
    void settle_one(Random& random);

private:
    struct Write {
        Encoding which;
        std::uint64_t value;
        bool indirect;
    };

    std::unordered_map<Encoding, std::uint64_t> values_;
    std::vector<Write> pending_; ///< in program order
};

} // namespace mmioscope::sim
