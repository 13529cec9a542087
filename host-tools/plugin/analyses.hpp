// The analyses of plug-ins that the user chose, as one object.
#pragma once

#include "plugin/plugins.hpp"

#include <string>
#include <vector>

namespace mmioscope::plugin {

class Analyses {
public:
    /// Each of `wanted` is "name" or "name(key=value, key=value)". Throws Error (bad_input) if
    /// there is no such analysis, or if it rejects the options.
    Analyses(const Plugins& plugins, const std::vector<std::string>& wanted);

    bool empty() const { return all_.empty(); }

    void add(const Event& event);

    /// Prints the results, each under its name if there are several.
    void finish(std::ostream& output);

private:
    struct One {
        std::string title;
        std::unique_ptr<Analysis> analysis;
    };
    std::vector<One> all_;
};

} // namespace mmioscope::plugin
