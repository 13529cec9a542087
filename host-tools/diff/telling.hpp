// What all findings are made of: names, sides, values.
#pragma once

#include "diff/changes.hpp"
#include "diff/finding.hpp"
#include "diff/sites.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::diff {

/// The name of the function; the address if it has none.
std::string code_text(const Site& site);

/// The device and the function that accesses it, as a key.
std::string call_of(const Site& site);

/// Adds `count` accesses to `side`; the first has the number `event`.
void add(Side& side, std::uint64_t count, std::uint64_t event);

/// The names of several sites, each once.
class Names {
public:
    void add(const Site& site);
    void fill(Finding& to) const;

private:
    std::vector<std::string> devices_, registers_, functions_;
};

/// The base of the classes that make findings. The arguments outlive it.
class Telling {
public:
    Telling(const Alike& alike, const Sites& sites) : alike_(alike), sites_(sites) {}

protected:
    const Site& site(std::uint32_t number) const { return alike_.sites[number]; }
    const Register* description(const Site& site) const { return sites_.description(site); }
    const AlikeBoot& a() const { return alike_.goods().front(); } ///< the first good boot
    const AlikeBoot& b() const { return alike_.other(); }

    /// A finding at one site.
    Finding begun(std::uint32_t number, const char* kind) const;

    const Alike& alike_;
    std::vector<Finding> findings_;

private:
    const Sites& sites_;
};

// Values and lists of a finding, in words.

/// "0x100 (Enable=1)": the fields follow if they are known.
std::string value_text(const Site& site, const Register* reg, std::uint64_t value);

/// "0x501 -> 0x500 (Enable 1 -> 0)": the fields that differ follow if they are known.
std::string change_text(const Site& site, const Register* reg, std::uint64_t a, std::uint64_t b);

/// "once", "12 times".
std::string times_text(std::uint64_t count);

/// The first few, separated by commas, and the number of the others.
std::string list_text(const std::vector<std::string>& items);

} // namespace mmioscope::diff
