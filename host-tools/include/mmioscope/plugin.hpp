// Filters and analyses of your own, loaded at run time with `mmioscope ... --plugin FILE.so`. Use a
// filter as `@name(key=value)` in -F, and an analysis as `mmioscope stat --analysis name`.
//
// A plug-in is a shared library of one source file. Build it with the compiler and the headers of
// the mmioscope that loads it (both are checked). contrib/plugin-example/ is an example.
#pragma once

#include "mmioscope/event.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>

namespace mmioscope::plugin {

/// The options that the user wrote in parentheses. A plug-in throws std::runtime_error for unknown
/// ones; its text is printed.
using Options = std::map<std::string, std::string>;

class Filter {
public:
    virtual ~Filter() = default;

    /// Whether `event` passes the filter. Called in the order of time, for each event that passed
    /// the conditions to the left.
    virtual bool keep(const Event& event) = 0;
};

class Analysis {
public:
    virtual ~Analysis() = default;

    /// Takes the next event, in the order of time. Its `reg` is valid until the trace ends, all
    /// else until this function returns.
    virtual void add(const Event& event) = 0;

    /// Called after the last event: prints the result.
    virtual void finish(std::ostream& output) = 0;
};

using MakeFilter = std::function<std::unique_ptr<Filter>(const Options&)>;
using MakeAnalysis = std::function<std::unique_ptr<Analysis>(const Options&)>;

/// Takes the filters and analyses of a plug-in.
class Registry {
public:
    /// `name` consists of letters, digits and '_'; `help` is one line.
    virtual void filter(const std::string& name, const std::string& help, MakeFilter make) = 0;
    virtual void analysis(const std::string& name, const std::string& help, MakeAnalysis make) = 0;

protected:
    ~Registry() = default;
};

/// The interface that a plug-in was built against.
struct Interface {
    std::uint32_t version; ///< raised when anything above changes
    std::uint32_t layout;  ///< of the types that events consist of
};

constexpr std::uint32_t layout_of_events() {
    const std::size_t sizes[] = {sizeof(Event),     sizeof(abi::Record), sizeof(Register),
                                 sizeof(Field),     sizeof(Location),    sizeof(SourceLine),
                                 sizeof(Task),      sizeof(std::string), sizeof(Options),
                                 sizeof(MakeFilter)};
    std::uint32_t sum = 0;
    for (const std::size_t size : sizes) {
        sum = sum * 31 + static_cast<std::uint32_t>(size);
    }
    return sum;
}

inline constexpr Interface interface_of_headers{5, layout_of_events()};

} // namespace mmioscope::plugin

/// Defines the symbols that mmioscope looks for in the library. A function body that uses
/// `registry` follows:
///     MMIOSCOPE_PLUGIN(registry) { registry.filter("mine", "What it keeps", make_mine); }
#define MMIOSCOPE_PLUGIN(registry)                                                                 \
    extern "C" __attribute__((visibility("default")))                                              \
    const mmioscope::plugin::Interface mmioscope_plugin_interface =                                \
        mmioscope::plugin::interface_of_headers;                                                   \
    extern "C" __attribute__((visibility("default"))) void mmioscope_plugin_register(              \
        [[maybe_unused]] mmioscope::plugin::Registry& registry)
