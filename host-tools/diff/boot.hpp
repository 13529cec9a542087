// What one boot did, as far as boots are compared. Its size depends on the number of different
// accesses, not on the number of events.
#pragma once

#include "file/trace_reader.hpp"
#include "mmioscope/event.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mmioscope::diff {

// Sites: places in the guest's code that access a register. Boots are compared site by site. All
// boots of a comparison share one list, so a number means the same site in each.

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

/// What a boot did at one site.
struct Use {
    /// A site with more different values writes data.
    static constexpr std::size_t most_values = 32;

    struct Value {
        std::uint64_t value = 0;
        std::uint64_t count = 0; ///< accesses
        std::uint64_t first = 0; ///< event number of the first one
        /// Where the thread had been before the first one: the site of its last access to another
        /// device; Sites::none: it had been at no other one.
        std::uint32_t behind = Sites::none;
        /// What the thread had last read from the register before the first one.
        std::optional<std::uint64_t> read;
    };

    std::uint64_t count = 0;            ///< accesses
    std::uint64_t first = 0;            ///< event number of the first one
    std::uint32_t behind = Sites::none; ///< as for a value
    std::vector<Value> values;          ///< the first most_values different ones
    bool many = false;                  ///< there were more
    std::uint64_t ones = 0;             ///< bits that were 1 in some value
    std::uint64_t zeros = 0;            ///< bits that were 0 in some value
    std::uint64_t unkept = 0;           ///< of a register that is read: bits that it does not keep
    std::uint64_t last = 0;             ///< the newest value
    bool one_bit = true; ///< each value differs from the previous one in at most one bit
};

/// A site of Sites with one of its Use::values.
struct Token {
    static constexpr std::uint32_t any = Use::most_values; ///< a value not in Use::values

    std::uint32_t site = 0;
    std::uint32_t value = any; ///< index in Use::values
    auto operator<=>(const Token&) const = default;
};

/// What a boot wrote in bursts of one length to a register: packets, or blocks, that went to a
/// FIFO. open_bursts.hpp says which writes are one burst.
struct Burst {
    /// Of longer bursts only these words are compared, the first ones.
    static constexpr std::size_t most_words = 512;

    struct Word {
        std::uint32_t site = 0;  ///< that wrote it the last time
        std::uint64_t ones = 0;  ///< bits that were 1 in some burst
        std::uint64_t zeros = 0; ///< bits that were 0 in some burst

        /// All bursts had the same value there.
        bool is_constant() const { return (ones ^ zeros) == ~std::uint64_t{0}; }
    };

    std::uint64_t count = 0; ///< bursts
    std::uint64_t first = 0; ///< event number of the first one's first write
    std::vector<Word> words; ///< by their place in the burst
};

/// The site of a burst's first write, and the number of writes: at least two.
using BurstKind = std::pair<std::uint32_t, std::uint32_t>;

/// Limit for a comparison and a profile, so that a small file cannot fill the memory.
inline constexpr std::size_t most_boots = 100;

struct Boot {
    /// Limit; pairs beyond it are not compared.
    static constexpr std::size_t most_pairs = 1 << 18;
    /// Limit; bursts of further kinds are not compared.
    static constexpr std::size_t most_bursts = 1 << 8;

    std::string name;  ///< of its file
    std::string build; ///< of its kernel; empty: unknown
    bool incomplete = false;
    std::uint64_t accesses = 0;
    std::uint64_t left_out = 0; ///< accesses that did not fit into a table
    std::vector<Use> uses;      ///< by the number of the site
    /// How often one write followed another directly: to the same device, in the same thread.
    std::map<std::pair<Token, Token>, std::uint64_t> pairs;
    std::map<BurstKind, Burst> bursts;

    bool has(std::uint32_t site) const { return site < uses.size() && uses[site].count > 0; }
};

// Which devices of different boots are the same one, although their names differ: another kernel's
// tree may call a node otherwise, and a card may be in another slot.

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
