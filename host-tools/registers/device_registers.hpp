// The registers of the devices of one trace; finds the register of an access.
#pragma once

#include "abi/record.hpp"
#include "registers/device_list.hpp"
#include "registers/register_book.hpp"

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

    /// Takes `devices`, one for each region of the trace. Descriptions are looked for when a record
    /// is of their device.
    void bind(std::span<const Device> devices);

    /// The register of region `device` that an access of `size` bytes, `offset` bytes behind the
    /// region's start, goes to; null if none is described there. A write to a read-only register is
    /// one to that register. Holds as long as this.
    const Register* find(std::uint16_t device, std::uint64_t offset, unsigned size, bool write);

    /// A register of the region may be another one while a field of a third has some value: all its
    /// records are to be told.
    bool watches(std::uint16_t device) {
        if (device >= devices_.size()) {
            return false;
        }
        if (!devices_[device].description) {
            description(device);
        }
        return !devices_[device].watched.empty();
    }
    /// Whether there is such a region.
    bool watches_any();
    /// `record` is the last one of such a region, `offset` bytes behind its start. False: variants
    /// are numbered anew.
    bool tell(const abi::Record& record, std::uint64_t offset);
    /// Stands for which of the region's conditions hold: with the same number find() finds the
    /// same.
    unsigned variant(std::uint16_t device) const {
        return device < devices_.size() ? devices_[device].variant : 0;
    }
    static constexpr unsigned most_variants = 8;

    /// Registers that conditions are on, by region and offset, and their values.
    using Held = std::map<std::uint16_t, std::map<std::uint64_t, std::uint64_t>>;
    Held held() const;
    /// Others hold what they do at first.
    void hold(const Held& held);

    /// Null: there is none for region `device`.
    const Description* description(std::uint16_t device);

private:
    struct Bound {
        std::vector<std::string> compatible;
        unsigned reg_index = 0;
        std::uint64_t base = 0;
        std::optional<const Description*> description; ///< nothing: not looked for yet
        /// Registers of conditions, by offset, and their values.
        std::map<std::uint64_t, std::uint64_t> watched;
        std::vector<std::vector<bool>> variants; ///< which conditions held
        unsigned variant = 0;
    };

    bool number(Bound& bound) const;
    bool holds(const Bound& bound, const Condition& condition) const;
    const Register* made(const Entry& entry, std::uint64_t start);

    const RegisterBook& book_;
    std::vector<Bound> devices_;
    std::optional<bool> watches_any_; ///< nothing: nobody has asked
    std::map<std::pair<const Entry*, std::uint64_t>, Register> made_;
};

} // namespace mmioscope::registers
