// Which devices of different boots are the same one, although their names differ: another kernel's
// tree may call a node otherwise, and a card may be in another slot.
#pragma once

#include "file/trace_reader.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mmioscope::diff {

/// The name that a comparison uses, by a boot's own name. What is not here keeps its name.
using Renamed = std::map<std::string, std::string, std::less<>>;

class Pairing {
public:
    /// Compares the devices of a boot with those of the boots before: they are the same if they
    /// have the same address and a common `compatible`; or are the same BAR of PCI functions of
    /// one vendor and device, the first of its kind, the second, and so on.
    Renamed add(const trace::TraceReader& reader);

    struct Device {
        std::string name;
        std::uint64_t address = 0;
        unsigned index = 0; ///< of its `reg` entry, or its BAR
        std::vector<std::string> compatible;
        std::string card; ///< vendor and device, and which of these; empty: not a PCI function
    };
    /// The devices of all boots so far, with the names that a comparison uses.
    const std::vector<Device>& known() const { return known_; }
    /// Adds those of boots that a profile has.
    void know(std::vector<Device> devices);

private:
    static std::vector<Device> devices_of(const trace::TraceReader& reader);
    static bool same(const Device& a, const Device& b);

    std::vector<Device> known_; ///< with the names of the boot that had them first
};

} // namespace mmioscope::diff
