// The state of registers at some time: the last write and the last read of each. Accesses of one
// address and one size are kept together; the table joins those that overlap.
#pragma once

#include "analysis/analyses.hpp"
#include "analysis/kept_access.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mmioscope::analysis {

/// Which accesses are the last write and the last read of each register: by number, without names.
class LastAccesses final : public reading::Consumer {
public:
    /// Keeps at most `most` registers; counts accesses to others.
    explicit LastAccesses(std::size_t most = 4096) : most_(most) {}

    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override;

    struct Found {
        std::vector<std::uint64_t> numbers; ///< in order
        std::uint64_t last = 0;             ///< the number of the last event that was looked at
        std::uint64_t left_out = 0;         ///< accesses to other registers
    };
    Found found() const;

private:
    struct Numbers {
        std::uint64_t written = 0, read = 0; ///< 0: never
    };
    std::size_t most_;
    std::unordered_map<std::uint64_t, Numbers> registers_; ///< by device, address and size
    std::uint64_t last_ = 0, left_out_ = 0;
};

class RegisterState final : public reading::Consumer {
public:
    /// Keeps at most `most` registers; counts accesses to others.
    explicit RegisterState(std::size_t most = 4096) : most_(most) {}
    /// Likewise for a trace that is read again: of the events up to `known.last`, only those that
    /// are found get names.
    explicit RegisterState(LastAccesses::Found known, std::size_t most = 4096)
        : most_(most), known_(std::move(known)), left_out_(known_.left_out) {}

    void add(const Event& event) override { add_all({&event, 1}); }
    void add_all(std::span<const Event> events) override;
    void forget() override;

    /// Two rows for each address, by device and offset: "written" and "read", the later one last.
    /// An access to more than its bytes is there with its part; one to fewer, if it was the last
    /// write, in the first cell.
    table::Table table() const;

private:
    struct Accesses {
        KeptAccess written, read;

        const KeptAccess& of(bool reads) const { return reads ? read : written; }
    };
    using Place = std::tuple<std::uint16_t, std::uint64_t, unsigned>; ///< device, address, size

    void keep(const Event& event);
    void add_rows(const Place& widest, table::Table& to) const;

    std::size_t most_;
    LastAccesses::Found known_;
    std::size_t next_ = 0; ///< of known_.numbers, to come
    std::map<Place, Accesses> registers_;
    std::uint64_t left_out_ = 0; ///< accesses
};

/// Why a register has the value of `access`, which has Event::number: add the events of the trace
/// up to it. `of_memory`: watched memory, which only another master can change without a record.
/// The table has up to four rows: "previous read", "previous write", "wrote this value" (the last
/// write of a value that was read, if it is not the previous write), and "this". The closing line
/// says which bits changed.
std::unique_ptr<Analysis> make_causes(const Event& access, bool of_memory = false);

} // namespace mmioscope::analysis
