// The places in entry/fast_path.S that FastState names; port/fast_code.hpp has their addresses.
#pragma once

namespace mmioscope {

enum class FastCode {
    slow,
    emulate,
    emulate_form,
    step,
    step_form,
    open,
    open_form,
    turn,
    look,
    names,
    finish,
    finish_end
};

} // namespace mmioscope
