// The state of registers at some time: the last write and the last read of each.
#pragma once

#include "analysis/kept_access.hpp"
#include "reading/consumer.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

namespace mmioscope::analysis {

class RegisterState final : public reading::Consumer {
public:
    /// Keeps at most `most` registers; counts accesses to others.
    explicit RegisterState(std::size_t most = 4096) : most_(most) {}

    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override;
    void forget() override;

    /// Two rows for each register, by device and offset: "written" and "read", the later one last.
    table::Table table() const;

private:
    void keep(const Event& event);

    struct Register {
        KeptAccess written, read;
    };
    using Place = std::pair<std::uint16_t, std::uint64_t>; ///< device and physical address

    std::size_t most_;
    std::map<Place, Register> registers_;
    std::uint64_t left_out_ = 0; ///< accesses
};

} // namespace mmioscope::analysis
