// Runs of records, as the onlooker at the guest takes them.
#pragma once

#include "records/runs.hpp"

#include <span>
#include <vector>

namespace mmioscope::test {

inline std::vector<trace::Run> task_runs(std::span<const abi::Record> records) {
    std::vector<trace::Run> runs;
    trace::for_each_run<trace::RunsOf::task>(records,
                                             [&](const trace::Run& run) { runs.push_back(run); });
    return runs;
}

} // namespace mmioscope::test
