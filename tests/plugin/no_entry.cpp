// Lacks the function that registers its filters.
#include "mmioscope/plugin.hpp"

extern "C" const mmioscope::plugin::Interface mmioscope_plugin_interface =
    mmioscope::plugin::interface_of_headers;
