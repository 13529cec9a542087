// Has a filter whose name nobody could write.
#include "mmioscope/plugin.hpp"

MMIOSCOPE_PLUGIN(registry) {
    registry.filter("two words", "", nullptr);
}
