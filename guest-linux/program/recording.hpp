// The trace on its way from the rings to an output: counted, and with what is to be left out taken
// out.
#pragma once

#include "left_out.hpp"
#include "output.hpp"
#include "records/summary.hpp"
#include "rings/ordered_rings.hpp"

namespace mmioscope::guest {

class Recording {
public:
    /// Takes over the rings of `area` as their second reader.
    Recording(const rings::Area& area, Output& output, LeftOut left_out);

    /// Takes what has come. Returns how many records that were.
    std::size_t pass();

    /// Takes what has been published up to now, and ends the output.
    void finish(abi::Ending ending);

    const trace::Summary& summary() const { return summary_; }
    /// What was left out, the policy, and last the verdict: lines, the last without its end; after
    /// finish().
    std::string verdict() const;
    bool complete() const {
        return losses_.lost() == 0 && rings_.damaged() == 0 && output_.doubt().empty();
    }

private:
    void deliver();
    void settle();
    std::string closing_text() const;

    const rings::Area& area_;
    Output& output_;
    LeftOut left_out_;
    rings::OrderedRings rings_;
    trace::LossCounter losses_;
    trace::Summary summary_;
    std::vector<abi::Record> ordered_;
};

} // namespace mmioscope::guest
