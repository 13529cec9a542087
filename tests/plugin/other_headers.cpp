// Built against headers with other events.
#include "mmioscope/plugin.hpp"

extern "C" const mmioscope::plugin::Interface mmioscope_plugin_interface{
    mmioscope::plugin::interface_of_headers.version, 1};
