// The last accesses of a boot, each with what became of it, in the order in which they are shown.
#pragma once

#include "blackbox/black_box.hpp"
#include "file/trace_reader.hpp"
#include "mmioscope/event.hpp"
#include "reading/trace.hpp"
#include "view/known_boot.hpp"

namespace mmioscope::view {

enum class State {
    in_flight,  ///< begun; of the event only time, CPU, device, offset, address and PC are known
    unfinished, ///< begun, as its begin record tells
    finished,   ///< or what is no access
};

/// What is made of them.
class LastAccessesOutput {
public:
    virtual ~LastAccessesOutput() = default;

    /// The unfinished ones follow, if there are `any`.
    virtual void begin_unfinished(bool any) = 0;
    /// Those that are finished follow, chosen out of `count`.
    virtual void begin_finished(std::size_t count) = 0;
    /// Events of a state that is not in_flight follow, whose names `reader` knows.
    virtual void begin(State state, const trace::TraceReader& reader) = 0;
    /// The text of a marker is whole.
    virtual void add(const Event& event, State state) = 0;
};

/// Those of `last` that `chosen` selects; times are those of the machine's counter, since its 0. Of
/// what was in flight CPUs are selected, whatever the filter says: most of what it might ask is not
/// known. Throws Error as reading::Trace.
void show(const KnownBoot& boot, const blackbox::LastAccesses& last,
          const reading::TraceOptions& chosen, LastAccessesOutput& output);

} // namespace mmioscope::view
