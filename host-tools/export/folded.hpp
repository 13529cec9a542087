// Folded stacks: one line for each stack with the number of accesses, as flame graphs are made of.
#pragma once

#include "export/sink.hpp"
#include "system/capped_map.hpp"

#include <cstdint>

namespace mmioscope::exporting {

class Folded : public Exporter {
public:
    explicit Folded(Sink& sink) : sink_(sink) {}

    void begin(const trace::TraceReader&) override {}
    void add(const Event& event) override;
    void finish() override;
    std::vector<std::string> left_out() const override;

private:
    static constexpr std::size_t most = 1 << 16; ///< different ones

    Sink& sink_;
    CappedNames<std::uint64_t> counts_{most};
    std::uint64_t without_ = 0; ///< accesses that have no stack
};

} // namespace mmioscope::exporting
