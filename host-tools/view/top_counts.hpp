// What the screen of `top` shows, counted as the events come: by each key, and in all.
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
    TopCounts();

    void add(const Event& event) override;
    void forget() override { came_.forget(); }

    /// From now on the screen shows all that has come; rates are of what came since the look
    /// before, by the guest's time.
    void look();

    /// The same, with rates of all that has come.
    void look_at_all();

    /// What `look` shows, as of the last look: at most analysis::most_names rows. It is there until
    /// another is asked for.
    const analysis::FirstRates& rates(const TopLook& look);

    /// No more events come of `reader`: what is lost is what it says.
    void finish_with(const trace::TraceReader& reader);

    TopHead head;             ///< its name and state are the caller's
    bool numbers_tell = true; ///< one that no event has is of a record that was lost

private:
    analysis::Counts came_; ///< since the last look
    std::map<analysis::Key, analysis::Rates> rates_;
    std::optional<std::pair<analysis::Key, analysis::RateChoice>> chosen_; ///< what shown_ is of
    analysis::FirstRates shown_;
    std::uint64_t looked_ = 0; ///< ns
    std::uint64_t events_ = 0; ///< up to then
    trace::LossCounter seen_;
};

} // namespace mmioscope::view
