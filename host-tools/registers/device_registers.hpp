// The registers of one trace's devices: which one an access went to.
#pragma once

#include "abi/record.hpp"
#include "registers/device_list.hpp"
#include "registers/register_book.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mmioscope::registers {

class DeviceRegisters {
public:
    /// `book` outlives this.
    explicit DeviceRegisters(const RegisterBook& book) : book_(book) {}

    /// Takes the descriptions of `devices`, one for each region of the trace.
    void bind(std::span<const Device> devices);

    /// The register that `record` went to, `offset` bytes behind the start of its region; null if
    /// none is described there. A write to a read-only register is one to that register. Holds as
    /// long as this. Records come in the order of time: a register may be another one while a field
    /// of a third has some value.
    const Register* find(const abi::Record& record, std::uint64_t offset);

    /// Null: there is none for region `device`.
    const Description* description(std::uint16_t device) const;

private:
    struct Bound {
        const Description* description = nullptr;
        std::map<std::uint64_t, std::uint64_t>
            watched; ///< registers of conditions, and their values
    };

    const Register* look_up(const Bound& bound, std::uint64_t offset, unsigned size, bool write);
    bool holds(const Bound& bound, const Condition& condition) const;
    const Register* made(const Entry& entry, std::uint64_t start);

    const RegisterBook& book_;
    std::vector<Bound> devices_;
    std::unordered_map<std::uint64_t, const Register*> cache_;
    std::map<std::pair<const Entry*, std::uint64_t>, Register> made_;
};

} // namespace mmioscope::registers
