// Has a filter with an invalid name.
#include "mmioscope/plugin.hpp"

MMIOSCOPE_PLUGIN(registry) {
    registry.filter("two words", "", nullptr);
}
