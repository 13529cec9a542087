// The rules that foretell what the read of a register gives. docs/regs.md defines them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mmioscope::analysis {

/// Rules by which a read may be foretold. Each is a competitor: at each read the one that was right
/// most often in such a case, while the model learnt, decides.
enum class Rule : std::uint8_t {
    last_read,    ///< of the register
    last_written, ///< to it
    cleared,      ///< what was read last, without the ones written since
    clock,        ///< what it counts to in the time since earlier reads
    recalled_1,   ///< what this run read after the same last write to the device
    recalled_2,   ///< after the same last two
    recalled_own, ///< after the same last one, and the same last one to the register itself
    own,          ///< what was learnt for the register's last read and last write
    step_runs,    ///< change since the last read, by the data accesses since
    step_3,       ///< change, by the registers of the last three accesses
    data_1,       ///< what was learnt for the last data access to the device and its value
    data_3,       ///< for the last three
    writes_1,     ///< what was learnt for the last write to the device
    writes_2,
    writes_4,
    history_0, ///< what was learnt for the register alone
    history_1, ///< for the last access to the device
    history_2,
    history_3,
    history_5,
    history_8,
    history_12,
};
inline constexpr std::size_t rule_count = 22;
std::string_view name_of(Rule rule);

constexpr std::size_t index_of(Rule rule) {
    return static_cast<std::size_t>(rule);
}
/// Whether the rule learns how far a read differs from the one before.
constexpr bool is_step(std::size_t rule) {
    return rule == index_of(Rule::step_runs) || rule == index_of(Rule::step_3);
}

/// The hash of what `hash` stands for, followed by `with`.
constexpr std::uint64_t joined(std::uint64_t hash, std::uint64_t with) {
    hash = (hash ^ with) * 0x9e37'79b9'7f4a'7c15;
    return hash ^ hash >> 32;
}

} // namespace mmioscope::analysis
