// Selects the change of the protocol for a run (tests/mutants/run.py); included before each source.
#pragma once

#include <cstdint>
#include <cstdlib>

inline const std::uint32_t chosen_mutant = [] {
    const char* const chosen = std::getenv("MMIOSCOPE_MUTANT");
    return static_cast<std::uint32_t>(chosen != nullptr ? std::strtoul(chosen, nullptr, 10) : 0);
}();

inline bool mutant_is(std::uint32_t number) {
    return chosen_mutant == number;
}
