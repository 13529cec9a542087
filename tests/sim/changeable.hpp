// All that a request may change in a machine, copied.
#pragma once

#include "machine/machine.hpp"

#include <string>

namespace mmioscope::sim {

struct Changeable {
    explicit Changeable(const Machine& m)
        : map(bytes_of(&m.map, sizeof m.map)), control(bytes_of(&m.control, sizeof m.control)),
          tables(bytes_of(m.pool.begin(), static_cast<std::size_t>(m.pool.end() - m.pool.begin()) *
                                              sizeof *m.pool.begin())) {}
    bool operator==(const Changeable&) const = default;

    std::string map, control, tables; ///< a string is compared as a whole, a vector byte by byte

private:
    static std::string bytes_of(const void* from, std::size_t size) {
        return {static_cast<const char*>(from), size};
    }
};

} // namespace mmioscope::sim
