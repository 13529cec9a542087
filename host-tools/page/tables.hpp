// What the analyses say of the whole trace, for the page: tables, and spans of time for its lanes.
#pragma once

#include "analysis/advice.hpp"
#include "analysis/count.hpp"
#include "analysis/dmesg.hpp"
#include "analysis/phases.hpp"
#include "analysis/register_classes.hpp"
#include "analysis/time_spent.hpp"
#include "reading/drive.hpp"
#include "reading/tally.hpp"
#include "reading/trace.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::page {

class Tables {
public:
    /// They get all events before all() is called.
    std::vector<reading::Consumer*> consumers() {
        return {&time_, &advisor_, &phases_, &registers_, &counts_};
    }

    /// The members "tables" and "spans" of an object.
    std::string all(const trace::TraceReader& reader, const trace::Summary& summary,
                    std::span<const analysis::DmesgLine> kernel_log);

private:
    void add(const analysis::Poll& poll);

    analysis::TimeSpent time_;
    analysis::Advisor advisor_{[this](const analysis::Poll& poll) { add(poll); }};
    analysis::Phases phases_{{}};
    analysis::RegisterClasses registers_;
    analysis::Counts counts_{analysis::all_keys(), analysis::most_names};
    std::vector<std::string> poll_spans_; ///< JSON
};

} // namespace mmioscope::page
