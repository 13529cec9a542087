// Throws while it is loaded.
#include "mmioscope/plugin.hpp"

MMIOSCOPE_PLUGIN(registry) {
    throw std::runtime_error("not today");
}
