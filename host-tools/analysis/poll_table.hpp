// The polls of a trace as a table: one row for each register that a function polls.
#pragma once

#include "analysis/count.hpp"
#include "analysis/poll.hpp"
#include "reading/drive.hpp"
#include "system/capped_map.hpp"
#include "table/table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace mmioscope::analysis {

/// The awaited bits, and the value they got.
struct Condition {
    std::uint64_t bits = 0; ///< 0: none is known
    std::uint64_t value = 0;
};

/// All polls of one kind and register, by one function with one caller.
struct Polls {
    static constexpr std::size_t most_conditions = 4;

    std::uint64_t times = 0;
    std::uint64_t reads = 0;   ///< of the register
    std::uint64_t time = 0;    ///< ns, from each loop's first access to its last
    std::uint64_t longest = 0; ///< ns
    std::uint64_t event = 0;   ///< number of the first access of the longest poll
    std::array<std::uint64_t, poll_ends> ended{}; ///< by PollEnd
    /// One of these came true each time. Used entries come first; more conditions are left out.
    std::array<Condition, most_conditions> conditions{};
    // The register:
    std::uint64_t place = 0;       ///< place_of()
    const Register* reg = nullptr; ///< null: no description
    unsigned size = 4;             ///< bytes of the access
    unsigned within = 0;           ///< bytes from the register's start
    std::uint64_t stayed = 0;      ///< the last value

    std::uint64_t ended_by(PollEnd end) const { return ended[static_cast<std::size_t>(end)]; }
    void add(const Polls& other);
    void add(const Condition& one);
};

Polls polls_of(const Poll& poll);

class PollTable final : public reading::Consumer {
public:
    /// `also` is called with each poll, while the names of its events are valid. May be null.
    explicit PollTable(std::function<void(const Poll&)> also = {}) : also_(std::move(also)) {}

    void add(const Event& event) override { finder_.add(event); }
    void forget() override { finder_.cut_all(); }
    void finish() override { finder_.cut_all(); }

    /// At most `most` rows, those that took most time first; for people, a line with the number of
    /// the others. Valid while this object exists and the trace is open.
    table::Table table(std::size_t most);

    /// Registers that carry data, which have no rows; known only at the end.
    const DataRegisters& data() const { return finder_.data(); }

private:
    void add(const Poll& poll);

    PollFinder finder_{[this](Thread, const Poll& poll) { add(poll); }};
    std::function<void(const Poll&)> also_;
    CappedNames<Polls> polls_{2048}; ///< by the texts of their row, joined
    std::string name_;               ///< kept to avoid an allocation for each poll
};

/// "CmdRespEnd=1"; empty: none is known.
std::string condition_text(const Poll& poll);

} // namespace mmioscope::analysis
