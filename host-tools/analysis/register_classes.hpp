// What the registers of a device are, as far as their accesses show it. docs/regs.md defines it.
#pragma once

#include "analysis/register_history.hpp"
#include "reading/drive.hpp"
#include "registers/device_list.hpp"
#include "table/table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace mmioscope::analysis {

// Which class a register has, by what its accesses show. docs/regs.md defines the classes.

/// The class of a register, and by what evidence.
struct Verdict {
    std::string_view name;
    std::string evidence;
    /// Whether it says what the register is.
    bool claims() const;
};

/// By its own accesses.
Verdict verdict_of(const RegisterEvidence& e);
/// Another register, of which writes here changed bits later, changes always in the same bits, and
/// only then.
bool commands(const RegisterEvidence& e, const RegisterEvidence& other);

class RegisterClasses final : public reading::Consumer {
public:
    /// Keeps at most `most` registers, 3 KiB each; counts accesses to others.
    explicit RegisterClasses(std::size_t most = 4096) : most_(most) {}

    void add(const Event& event) override;

    /// Whether the access's register is a FIFO, or a counter that rose from each read to the next.
    bool carries_data(const Event& event) const;
    /// No access was seen.
    bool empty() const { return registers_.empty(); }
    /// A row for each register, by device and offset.
    table::Table table() const;
    /// The same as a description (mmioscope-registers(5)). `devices`: by region. A register without
    /// a name is called by its offset, "R008".
    std::string description(std::span<const registers::Device> devices) const;

private:
    using Place = std::pair<std::uint16_t, std::uint64_t>; ///< device and offset of the register

    /// The registers that choose what a `data` register shows, and that one.
    using Indices = std::map<const RegisterHistory*, const RegisterHistory*>;

    struct Device {
        std::array<RegisterHistory*, 4> written{}; ///< the last ones, the latest first
        /// Its last reads since a write, the latest first.
        RegisterHistory *read = nullptr, *read_before = nullptr;
    };

    static std::uint64_t offset_of(const Event& event);
    RegisterHistory* of(const Event& event);
    Indices indices() const;
    /// With what it says of other registers.
    static Verdict class_of(const RegisterHistory& one, const Indices& indices);

    std::size_t most_;
    std::map<Place, RegisterHistory> registers_;
    std::unordered_map<std::uint16_t, Device> devices_;
    When now_;                   ///< of the last access
    std::uint64_t left_out_ = 0; ///< accesses
};

} // namespace mmioscope::analysis
