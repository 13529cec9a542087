// Which class a register has, by what its accesses show. docs/regs.md defines the classes.
#pragma once

#include "analysis/register_evidence.hpp"

#include <string>
#include <string_view>

namespace mmioscope::analysis {

/// The class of a register, and by what evidence.
struct Verdict {
    std::string_view name;
    std::string evidence;
    /// Whether it says what the register is.
    bool claims() const;
};

/// By its own accesses.
Verdict verdict_of(const RegisterEvidence& e);
/// Another register, of which writes here changed bits later, changes always in the same bits, and
/// only then.
bool commands(const RegisterEvidence& e, const RegisterEvidence& other);

} // namespace mmioscope::analysis
