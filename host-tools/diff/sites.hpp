// Places in the guest's code that access a register: what two boots are compared by. One list for
// all boots of a comparison, so that a number means the same in each.
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

/// The register that sends a software-generated interrupt: the scheduler does, when it likes.
inline constexpr std::string_view sends_interrupt = "GICD_SGIR";

struct Site {
    std::string device;
    std::uint64_t offset = 0; ///< bytes from the start of the device
    unsigned size = 4;        ///< bytes of the access
    bool write = false;
    std::string function;    ///< with its module; empty: the code has no name
    std::uint32_t place = 0; ///< bytes from the function's start; without a function the address
    std::string reg;         ///< what people call the register
    /// It says when interrupts come and go: neither order nor counts of these are compared.
    bool interrupt = false;

    auto operator<=>(const Site&) const = default;
};

class Sites {
public:
    /// More are not compared.
    static constexpr std::uint32_t most = 1 << 16;
    static constexpr std::uint32_t none = most;

    /// Its number; `none` if there are too many.
    std::uint32_t number_of(const Site& site);
    const Site& operator[](std::uint32_t number) const { return *sites_[number]; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(sites_.size()); }

    /// Keeps the description of a site's register.
    void describe(const Site& site, const Register& reg);
    /// Null: nobody has described it.
    const Register* description(const Site& site) const;

private:
    std::map<Site, std::uint32_t> numbers_;
    std::vector<const Site*> sites_; ///< of numbers_
    std::map<std::pair<std::string, std::uint64_t>, Register> registers_;
};

} // namespace mmioscope::diff
