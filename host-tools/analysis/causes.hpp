// Why a register has the value of an access: the earlier accesses to it.
#pragma once

#include "analysis/kept_access.hpp"
#include "analysis/recorded.hpp"
#include "reading/drive.hpp"

namespace mmioscope::analysis {

class Causes final : public reading::Consumer {
public:
    /// `access` has Event::number. Add the events of the trace up to it. `of_memory`: watched
    /// memory, which only another master can change without a record.
    explicit Causes(const Event& access, bool of_memory = false)
        : number_(access.number), target_(access.record), of_memory_(of_memory) {}

    void add(const Event& event) override;
    void forget() override;

    /// Up to four rows: "previous read", "previous write", "wrote this value" (the last write of a
    /// value that was read, if it is not the previous write), and "this". The closing line says
    /// which bits changed.
    table::Table table() const;

private:
    bool is_target(const Event& event) const { return event.number == number_; }
    std::string changes() const;

    std::uint64_t number_;
    abi::Record target_;
    bool of_memory_;
    Recorded recorded_;
    std::uint64_t unseen_ = 0; ///< the last event before which accesses may have no records
    KeptAccess this_, read_, written_, wrote_this_value_;
};

} // namespace mmioscope::analysis
