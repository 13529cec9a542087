// The loaded plug-ins, with their filters and analyses.
#pragma once

#include "filter/parser.hpp"
#include "mmioscope/plugin.hpp"

#include <string>
#include <vector>

namespace mmioscope::filter {

class Plugins {
public:
    Plugins() = default;
    /// Loads these libraries. Throws Error like load().
    explicit Plugins(const std::vector<std::string>& paths);

    /// Loads the library at `path` until the program ends. Throws Error (bad_input), one line that
    /// names `path`, if it is not a library or not a plug-in, was built against other headers,
    /// throws, or has a name that is taken.
    void load(const std::string& path);

    /// The filter `@name(options)`. Throws Error (bad_input) if there is none, or if it rejects the
    /// options. The returned function does so if the plug-in throws.
    std::function<bool(const Event&)> filter(const std::string& name,
                                             const plugin::Options& options) const;

    /// The analysis `name`, likewise. The result may outlive this object.
    std::unique_ptr<plugin::Analysis> analysis(const std::string& name,
                                               const plugin::Options& options) const;

    /// For reading::TraceOptions: lets filters use those of plug-ins. This object must outlive
    /// them.
    Settings filter_settings() const;

    /// One line for each filter and analysis, for --help and error messages; empty if there are
    /// none.
    std::string list() const;

private:
    template <typename Make>
    struct Entry {
        std::string path;
        std::string help;
        Make make;
    };
    class Loading;

    std::map<std::string, Entry<plugin::MakeFilter>> filters_;
    std::map<std::string, Entry<plugin::MakeAnalysis>> analyses_;
};

/// The analyses of plug-ins that the user chose, as one object.
class PluggedAnalyses {
public:
    /// Each of `wanted` is "name" or "name(key=value, key=value)". Throws Error (bad_input) if
    /// there is no such analysis, or if it rejects the options.
    PluggedAnalyses(const Plugins& plugins, const std::vector<std::string>& wanted);

    bool empty() const { return all_.empty(); }

    void add(const Event& event);

    /// Prints the results, each under its name if there are several.
    void finish(std::ostream& output);

private:
    struct One {
        std::string title;
        std::unique_ptr<plugin::Analysis> analysis;
    };
    std::vector<One> all_;
};

} // namespace mmioscope::filter
