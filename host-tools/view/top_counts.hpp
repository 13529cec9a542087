// The counts for the screen of `top`, by each key and in total, updated as events arrive.
#pragma once

#include "analysis/rates.hpp"
#include "file/trace_reader.hpp"
#include "reading/consumer.hpp"
#include "records/losses.hpp"
#include "view/top_look.hpp"
#include "view/top_screen.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace mmioscope::view {

class TopCounts final : public reading::Consumer {
public:
    void add(const Event& event) override;
    void forget() override { counts_.forget(); }

    /// Updates the screen's counts. Rates are those since the previous update, in the guest's time.
    void look();

    /// Likewise, with rates over the whole time.
    void look_at_all();

    /// The rows that `look` selects, as of the last update. Valid until the next call.
    const analysis::ShownRates& rates(const TopLook& look);

    /// `reader` has no more events, and knows how many were lost.
    void finish_with(const trace::TraceReader& reader);

    TopHead head;             ///< the caller sets its name and state
    bool numbers_tell = true; ///< a missing number means a lost record

private:
    analysis::Counts counts_{analysis::all_keys(), 512};
    std::map<analysis::Key, analysis::Rates> rates_;
    std::optional<std::pair<analysis::Key, analysis::RateChoice>>
        chosen_; ///< the key and rates of shown_
    analysis::ShownRates shown_;
    std::uint64_t looked_ = 0; ///< time of the last update, ns
    std::uint64_t events_ = 0; ///< events up to it
    trace::LossCounter seen_{1};
};

} // namespace mmioscope::view
