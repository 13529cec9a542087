// The content of a `task` record: what the guest's kernel calls the task at Record::task, as of the
// record's time. Readers use the name for that task's records from there on, until another `task`
// record replaces it.
//
// `va` is the pid and `pa_low` the tgid (the pid of the process's first thread). `value`, `lr` and
// `sp` are the 16 bytes of comm, with or without a terminating zero. `pc` and `mode` are 0.
#pragma once

#include "abi/record.hpp"

#include <cstring>

namespace mmioscope::abi {

struct TaskName {
    std::uint32_t pid;
    std::uint32_t tgid;
    char comm[16];
};

inline void set_task_name(Record& r, const TaskName& name) {
    r.va = name.pid;
    set_physical_address(r, name.tgid);
    std::memcpy(&r.value, name.comm, 8);
    std::memcpy(&r.lr, name.comm + 8, 4);
    std::memcpy(&r.sp, name.comm + 12, 4);
}

inline TaskName task_name(const Record& r) {
    TaskName name{r.va, r.pa_low, {}};
    std::memcpy(name.comm, &r.value, 8);
    std::memcpy(name.comm + 8, &r.lr, 4);
    std::memcpy(name.comm + 12, &r.sp, 4);
    return name;
}

} // namespace mmioscope::abi
