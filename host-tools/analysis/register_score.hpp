// How well a model of registers foretells the reads of another trace. docs/regs.md defines it.
#pragma once

#include "analysis/register_model.hpp"
#include "system/capped_map.hpp"
#include "table/table.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace mmioscope::analysis {

class RegisterScore final : public reading::Consumer {
public:
    /// `interrupts_given`: the model is told which interrupts a GIC's acknowledges gave, and these
    /// reads do not count.
    explicit RegisterScore(RegisterModel& model, bool interrupts_given = false)
        : model_(model), interrupts_given_(interrupts_given) {}

    void add(const Event& event) override;

    /// No read that counts was seen.
    bool empty() const { return registers_.empty(); }
    /// A row for each register that was read, then one for each device; closes with the verdict.
    /// The end: nothing may be added.
    table::Table table() const;

private:
    /// Who foretells. Each is a bit.
    enum Who : unsigned { fed, free_running, last_read, last_written, most_frequent, who_count };
    /// Counts of one register, or of all of a device.
    struct Counts {
        std::uint64_t reads = 0;
        std::uint64_t data = 0;  ///< reads of data, left out
        std::uint64_t given = 0; ///< reads that the model was told
        std::uint64_t situations = 0;
        std::array<std::uint64_t, who_count> right{};
        std::array<std::uint64_t, who_count> right_once{}; ///< of the situations
        std::array<std::uint64_t, rule_count> rules{};     ///< which rule decided how often
        std::uint64_t first_wrong = 0;                     ///< event; 0: none
        void add(const Counts& other);
    };
    static constexpr std::size_t situation_accesses = 5;

    Counts& counts(std::size_t reg);
    void judge(const Event& event, std::size_t reg, std::uint32_t value);
    /// A hash of a situation: a register, and the device's last accesses before it.
    std::uint64_t situation(std::size_t reg);
    std::string verdict(const Counts& all) const;
    static table::Row row(const std::string& device, const std::string& name, table::Cell offset,
                          const Counts& counts);

    RegisterModel& model_;
    bool interrupts_given_;
    RegisterModel::Numbers numbers_;
    RegisterModel::Seen fed_, free_;
    std::map<std::size_t, std::array<std::uint64_t, situation_accesses>> last_; ///< by device
    std::vector<Counts> registers_;
    CappedMap<std::unordered_map<std::uint64_t, bool>> situations_{65'536}; ///< whether seen
    std::uint64_t left_out_ = 0;                                            ///< reads in others
    std::optional<std::uint32_t> free_value_; ///< what free_ says of this read
};

} // namespace mmioscope::analysis
