// Sites: places in the guest's code that access a register. Boots are compared site by site. All
// boots of a comparison share one list, so a number means the same site in each.
#pragma once

#include "mmioscope/event.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mmioscope::diff {

/// The register that sends software-generated interrupts. The scheduler decides when.
inline constexpr std::string_view sends_interrupt = "GICD_SGIR";

struct Site {
    std::string device;
    std::uint64_t offset = 0; ///< bytes from the start of the device
    unsigned size = 4;        ///< bytes of the access
    bool write = false;
    std::string function;    ///< with its module; empty: the code has no name
    std::uint32_t place = 0; ///< bytes from the function's start; the address if it has no name
    std::string reg;         ///< name of the register, or its offset
    /// The register tells when interrupts come and go, so order and counts are not compared.
    bool interrupt = false;

    auto operator<=>(const Site&) const = default;
};

class Sites {
public:
    /// Limit; sites beyond it are not compared.
    static constexpr std::uint32_t most = 1 << 16;
    static constexpr std::uint32_t none = most;

    /// The number of `site`, a new one if needed; `none` if there are too many sites.
    std::uint32_t number_of(const Site& site);
    const Site& operator[](std::uint32_t number) const { return *sites_[number]; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(sites_.size()); }

    /// Keeps the description of a site's register.
    void describe(const Site& site, const Register& reg);
    /// Null: there is no description.
    const Register* description(const Site& site) const;

private:
    std::map<Site, std::uint32_t> numbers_;
    std::vector<const Site*> sites_; ///< keys of numbers_, by number
    std::map<std::pair<std::string, std::uint64_t>, Register> registers_;
};

} // namespace mmioscope::diff
