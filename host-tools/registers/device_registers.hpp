// The registers of the devices of one trace; finds the register of an access.
#pragma once

#include "abi/record.hpp"
#include "registers/description.hpp"
#include "registers/device_list.hpp"
#include "registers/register_book.hpp"
#include "tree/tree_nodes.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::registers {

class DeviceRegisters {
public:
    /// `book` outlives this.
    explicit DeviceRegisters(const RegisterBook& book) : book_(book) {}

    /// Sets the `devices`, one for each region of the trace. Looks for a device's description at
    /// its first record.
    void bind(std::span<const Device> devices);

    /// The register of region `device` for an access of `size` bytes at `offset` from the region's
    /// start; null if no description has one. A write to a read-only register counts as that
    /// register. Valid as long as this object.
    const Register* find(std::uint16_t device, std::uint64_t offset, unsigned size, bool write);

    /// Whether the register at an offset may depend on the value of another register's field. If
    /// so, pass all records of the region to observe().
    bool watches(std::uint16_t device) {
        if (device >= devices_.size()) {
            return false;
        }
        if (!devices_[device].description) {
            description(device);
        }
        return !devices_[device].watched.empty();
    }
    /// Whether any region does.
    bool watches_any();
    /// `record` is the last one of such a region, `offset` bytes from its start. False: variants
    /// have new numbers.
    bool observe(const abi::Record& record, std::uint64_t offset);
    /// If `record`, the next one of such a region, is a command that carries out what was written
    /// before it: the register, value and fields of that, "MII_DATA[BMCR] 0x4100 LOOPBACK=1".
    std::string carried_out(const abi::Record& record, std::uint64_t offset);
    /// Encodes which of the region's conditions hold: as long as it is the same, find() returns the
    /// same.
    unsigned variant(std::uint16_t device) const {
        return device < devices_.size() ? devices_[device].variant : 0;
    }
    static constexpr unsigned most_variants = 8;

    /// Registers used in conditions, or written before a command, by offset, and their values;
    /// nothing: not known.
    using Values = std::map<std::uint64_t, std::optional<std::uint64_t>>;
    using Held = std::map<std::uint16_t, Values>; ///< by region
    Held held() const;
    /// All others get their initial values.
    void hold(const Held& held);

    /// Null: region `device` has none.
    const Description* description(std::uint16_t device);

private:
    struct Bound {
        std::vector<std::string> compatible;
        unsigned reg_index = 0;
        tree::AddressRange range{};
        std::optional<const Description*> description; ///< nothing: not searched yet
        Values watched;
        std::vector<std::vector<bool>> variants; ///< the conditions that held
        unsigned variant = 0;
    };

    bool number(Bound& bound) const;
    bool holds(const Bound& bound, const Condition& condition) const;
    const Register* made(const Entry& entry, std::uint64_t start);

    const RegisterBook& book_;
    std::vector<Bound> devices_;
    std::optional<bool> watches_any_; ///< nothing: not computed yet
    std::map<std::pair<const Entry*, std::uint64_t>, Register> made_;
};

// The registers of SVD peripherals as a device sees them: by offset from the device's own address.

/// Whether a register of the SVD peripheral `one` may lie in `range`.
bool reaches(const Description& one, const tree::AddressRange& range);

/// The registers of `peripherals` from the start of `range` on, the first peripheral's first. If
/// they have different addresses, the names begin with the peripheral's: "SPI1_CR".
Description placed(std::span<const Description* const> peripherals,
                   const tree::AddressRange& range);

} // namespace mmioscope::registers
