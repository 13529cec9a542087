// The loaded plug-ins, with their filters and analyses.
#pragma once

#include "filter/parser.hpp"
#include "mmioscope/plugin.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::plugin {

class Plugins {
public:
    Plugins() = default;
    /// Loads these. Throws Error as load() does.
    explicit Plugins(const std::vector<std::string>& paths);

    /// Loads the library at `path`, for as long as the program runs. Throws Error (bad_input), one
    /// line that names `path`, if it is none, is no plug-in, was built against other headers,
    /// throws, or has a name that is taken.
    void load(const std::string& path);

    /// The filter `@name(options)`. Throws Error (bad_input) if there is none or it does not take
    /// the options; the function returned does so if the plug-in throws.
    std::function<bool(const Event&)> filter(const std::string& name, const Options& options) const;

    /// The analysis `name`, likewise; what is returned may be used after this is gone.
    std::unique_ptr<Analysis> analysis(const std::string& name, const Options& options) const;

    /// For reading::TraceOptions: lets filters name those of plug-ins. This outlives what is made
    /// with it.
    filter::Settings filter_settings() const;

    /// A line for each filter and analysis, for --help and complaints; empty without any.
    std::string list() const;

private:
    template <typename Make>
    struct Entry {
        std::string path;
        std::string help;
        Make make;
    };
    class Loading;

    std::map<std::string, Entry<MakeFilter>> filters_;
    std::map<std::string, Entry<MakeAnalysis>> analyses_;
};

} // namespace mmioscope::plugin
