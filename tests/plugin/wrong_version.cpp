// Built for a later interface.
#include "mmioscope/plugin.hpp"

extern "C" const mmioscope::plugin::Interface mmioscope_plugin_interface{
    999, mmioscope::plugin::layout_of_events()};
