// Takes the trace from the rings to an output. Counts its records, and leaves out those of the
// carrier.
#pragma once

#include "left_out.hpp"
#include "output.hpp"
#include "records/summary.hpp"
#include "rings/merge.hpp"

namespace mmioscope::guest {

class Recording {
public:
    /// Takes over the rings of `area` as their second reader.
    Recording(const rings::Area& area, Output& output, LeftOut left_out);

    /// Takes the records that have arrived. Returns their number.
    std::size_t pass();

    /// Takes all records published so far, and ends the output.
    void finish(abi::Ending ending);

    const trace::Summary& summary() const { return summary_; }
    /// After finish(): lines about what was left out, the policy, and the verdict. The last one has
    /// no line end.
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
