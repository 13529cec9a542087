// The places in entry/fast_path.S that FastState names; port/fast_code.hpp has their addresses.
#pragma once

namespace mmioscope {

enum class FastCode {
    slow,
    emulate,
    emulate_other,
    step,
    step_other,
    open,
    open_other,
    work,
    reserve,
    check_task,
    finish,
    finish_end
};

} // namespace mmioscope
