// The last accesses of a boot as lines of text.
#pragma once

#include "view/last_accesses.hpp"
#include "view/line.hpp"

#include <cstdio>
#include <functional>
#include <optional>

namespace mmioscope::view {

class LastLines : public LastAccessesOutput {
public:
    using Style = std::function<LineStyle(const trace::TraceReader&)>;

    /// `style` is the look of the lines. `out` outlives this.
    LastLines(std::FILE* out, const KnownBoot& boot, Style style);

    void begin_unfinished(bool any) override;
    void begin_finished(std::size_t count) override;
    void begin(State state, const trace::TraceReader& reader) override;
    void add(const Event& event, State state) override;

private:
    std::string in_flight(const Event& event) const;

    std::FILE* out_;
    Style style_;
    std::uint32_t frequency_;
    std::size_t width_; ///< of the longest device's name
    std::optional<LineFormat> format_;
};

} // namespace mmioscope::view
