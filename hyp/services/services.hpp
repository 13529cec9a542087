// All services of the hypervisor, and what each needs of the others.
#pragma once

#include "black_box/black_box.hpp"
#include "choice/choice.hpp"
#include "control/control.hpp"
#include "integrity/integrity.hpp"
#include "keeping/keeping.hpp"
#include "moving/moving_pages.hpp"
#include "probes/probes.hpp"
#include "stacks/stacks.hpp"
#include "stream/stream_service.hpp"
#include "task_names/task_names.hpp"
#include "unprotect/unprotect.hpp"
#include "watching/watched_memory.hpp"

#include <array>

namespace mmioscope {

struct Services {
    Integrity integrity;
    BlackBox black_box;
    Choice choice;
    TaskNames task_names;
    Stacks stacks;
    Stream stream;
    MovingPages moving;
    Probes probes{integrity, choice, stacks, moving};
    WatchedMemory watched{integrity, moving};
    Control control{integrity, choice, probes, watched, moving, stream};
    StreamService stream_service{stream, control};
    Unprotect unprotect;
    Keeping keeping;

    constexpr Services() = default;
    Services(const Services&) = delete;
};

/// In the order in which their hooks are called: the checksums are made when all else is set up.
constexpr std::array<Service*, 11> list_of(Services& s) {
    return {&s.black_box, &s.task_names, &s.stacks,    &s.moving,         &s.probes,  &s.watched,
            &s.control,   &s.unprotect,  &s.stream_service, &s.keeping, &s.integrity};
}

} // namespace mmioscope
