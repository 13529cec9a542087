// A copy of everything in a machine that a request may change.
#pragma once

#include "rig.hpp"

#include <string>

namespace mmioscope::sim {

struct Changeable {
    explicit Changeable(const Rig& rig)
        : map(bytes_of(&rig.machine->map, sizeof rig.machine->map)),
          control(bytes_of(&rig.services.control, sizeof rig.services.control)),
          choice(bytes_of(&rig.services.choice, sizeof rig.services.choice)),
          tables(bytes_of(
              rig.machine->pool.begin(),
              static_cast<std::size_t>(rig.machine->pool.end() - rig.machine->pool.begin()) *
                  sizeof *rig.machine->pool.begin())) {}
    bool operator==(const Changeable&) const = default;

    std::string map, control, choice,
        tables; ///< a string is compared as a whole, a vector byte by byte

private:
    static std::string bytes_of(const void* from, std::size_t size) {
        return {static_cast<const char*>(from), size};
    }
};

} // namespace mmioscope::sim
