// What the screen of `top` shows, counted as the events come: by each key, and in all.
#pragma once

#include "analysis/rates.hpp"
#include "file/trace_reader.hpp"
#include "reading/consumer.hpp"
#include "records/losses.hpp"
#include "view/top_screen.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace mmioscope::view {

class TopCounts final : public reading::Consumer {
public:
    TopCounts();

    void add(const Event& event) override;
    void forget() override { counts_.forget(); }

    /// From now on the screen shows all that has come; rates are of what came since the look
    /// before, by the guest's time.
    void look();

    /// The same, with rates of all that has come.
    void look_at_all();

    /// Those of the last look, by `key`.
    std::span<const analysis::Rate> rates(analysis::Key key) const;

    /// No more events come of `reader`: what is lost is what it says.
    void finish_with(const trace::TraceReader& reader);

    TopHead head;             ///< its name and state are the caller's
    bool numbers_tell = true; ///< one that no event has is of a record that was lost

private:
    /// What is counted by one key.
    struct Table {
        analysis::Rates rates;
        std::vector<analysis::Rate> rows; ///< as of the last look
    };

    analysis::Counts counts_;
    std::map<analysis::Key, Table> tables_;
    std::uint64_t looked_ = 0; ///< ns
    std::uint64_t events_ = 0; ///< up to then
    trace::LossCounter seen_;
};

} // namespace mmioscope::view
