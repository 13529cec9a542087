// All services of the hypervisor, and what each needs of the others.
#pragma once

#include "black_box/black_box.hpp"
#include "choice/choice.hpp"
#include "control/control.hpp"
#include "integrity/integrity.hpp"
#include "stream/stream_service.hpp"
#include "task_names/task_names.hpp"
#include "unprotect/unprotect.hpp"

namespace mmioscope {

struct Services {
    Integrity integrity;
    BlackBox black_box;
    Choice choice;
    TaskNames task_names;
    Stream stream;
    Control control{integrity, choice, stream};
    StreamService stream_service{stream, control};
    Unprotect unprotect;

    /// In the order in which their hooks are called: what is checked at the end, and after
    /// everything is set up, comes last.
    Service* const list[6]{&black_box, &task_names,     &control,
                           &unprotect, &stream_service, &integrity};

    constexpr Services() = default;
    Services(const Services&) = delete;
};

} // namespace mmioscope
