#include "filter/plugins.hpp"

#include "filter/tokens.hpp"
#include "system/error.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace mmioscope::filter {

namespace {

/// Calls `call`, a plug-in's. If it throws anything, throws Error (bad_input) with one line, "WHO:
/// WHAT".
template <typename Call>
auto guarded(const std::string& who, Call&& call) {
    std::string what;
    try {
        return std::forward<Call>(call)();
    } catch (const std::exception& error) {
        what = error.what();
    } catch (...) {
        what = "threw something other than a std::exception";
    }
    std::replace_if(
        what.begin(), what.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    throw bad_input("{}: {}", who, what);
}

using Enter = void (*)(plugin::Registry&);

// Whether a name can be written after @ and --analysis.
bool is_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    });
}

// dlopen() would search the system's folders for a name without a slash.
std::string as_file(const std::string& path) {
    return path.find('/') == std::string::npos ? "./" + path : path;
}

std::string last_failure(const std::string& path) {
    const char* const text = ::dlerror();
    std::string why = text == nullptr ? "cannot be loaded" : text;
    const std::string prefix = as_file(path) + ": "; // dlopen's messages already contain the path
    return why.starts_with(prefix) ? why.substr(prefix.size()) : why;
}

void check_interface(void* library, const std::string& path) {
    const auto* const with =
        static_cast<const plugin::Interface*>(::dlsym(library, "mmioscope_plugin_interface"));
    if (with == nullptr) {
        throw bad_input("plug-in {}: not a plug-in for mmioscope (it has no MMIOSCOPE_PLUGIN)",
                        path);
    }
    if (with->version != plugin::interface_of_headers.version) {
        throw bad_input(
            "plug-in {}: made for version {} of the interface; this program has version {}", path,
            with->version, plugin::interface_of_headers.version);
    }
    if (with->layout != plugin::interface_of_headers.layout) {
        throw bad_input("plug-in {}: built with other headers than this program; rebuild it", path);
    }
}

template <typename Entries>
std::string names_of(const Entries& entries) {
    std::string names;
    for (const auto& [name, entry] : entries) {
        names += (names.empty() ? "" : ", ") + name;
    }
    return names.empty() ? "no plug-in has one" : "there are: " + names;
}

template <typename Entries>
const auto& entry_of(const Entries& entries, const std::string& name, std::string_view kind) {
    const auto entry = entries.find(name);
    if (entry == entries.end()) {
        throw bad_input("there is no {} '{}' ({})", kind, name, names_of(entries));
    }
    return entry->second;
}

/// Calls `make`, and checks that its result is not null.
template <typename Make>
auto made(const Make& make, const plugin::Options& options, const std::string& who) {
    auto object = guarded(who, [&] { return make(options); });
    if (!object) {
        throw bad_input("{}: created nothing", who);
    }
    return object;
}

class GuardedAnalysis final : public plugin::Analysis {
public:
    GuardedAnalysis(std::string who, std::unique_ptr<plugin::Analysis> analysis)
        : who_(std::move(who)), analysis_(std::move(analysis)) {}

    void add(const Event& event) override {
        guarded(who_, [&] { analysis_->add(event); });
    }
    void finish(std::ostream& output) override {
        guarded(who_, [&] { analysis_->finish(output); });
    }

private:
    std::string who_;
    std::unique_ptr<plugin::Analysis> analysis_;
};

} // namespace

/// Collects what one library registers.
class Plugins::Loading final : public plugin::Registry {
public:
    Loading(Plugins& plugins, const std::string& path) : plugins_(plugins), path_(path) {}

    void filter(const std::string& name, const std::string& help,
                plugin::MakeFilter make) override {
        add(plugins_.filters_, name, {path_, help, std::move(make)});
    }
    void analysis(const std::string& name, const std::string& help,
                  plugin::MakeAnalysis make) override {
        add(plugins_.analyses_, name, {path_, help, std::move(make)});
    }

private:
    template <typename Entries>
    void add(Entries& to, const std::string& name, typename Entries::mapped_type entry) {
        if (!is_name(name)) {
            throw std::runtime_error("'" + name + "' is not a name (letters, digits and _)");
        }
        const auto [existing, fresh] = to.emplace(name, std::move(entry));
        if (!fresh) {
            throw std::runtime_error("'" + name + "' is already registered by " +
                                     existing->second.path);
        }
    }

    Plugins& plugins_;
    const std::string& path_;
};

Plugins::Plugins(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        load(path);
    }
}

// Never unloaded: objects and exceptions from it may outlive this.
void Plugins::load(const std::string& path) {
    const std::string who = "plug-in " + path;
    void* const library = guarded(who, [&] {
        return ::dlopen(as_file(path).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    });
    if (library == nullptr) {
        throw bad_input("{}: {}", who, last_failure(path));
    }
    check_interface(library, path);
    const auto enter = reinterpret_cast<Enter>(::dlsym(library, "mmioscope_plugin_register"));
    if (enter == nullptr) {
        throw bad_input("{}: it lacks mmioscope_plugin_register", who);
    }
    Loading loading(*this, path);
    guarded(who, [&] { enter(loading); });
}

std::function<bool(const Event&)> Plugins::filter(const std::string& name,
                                                  const plugin::Options& options) const {
    const Entry<plugin::MakeFilter>& entry = entry_of(filters_, name, "filter");
    const std::string who = "plug-in " + entry.path + ", filter " + name;
    std::shared_ptr<plugin::Filter> filter = made(entry.make, options, who);
    return [who, filter](const Event& event) {
        return guarded(who, [&] { return filter->keep(event); });
    };
}

std::unique_ptr<plugin::Analysis> Plugins::analysis(const std::string& name,
                                                    const plugin::Options& options) const {
    const Entry<plugin::MakeAnalysis>& entry = entry_of(analyses_, name, "analysis");
    const std::string who = "plug-in " + entry.path + ", analysis " + name;
    return std::make_unique<GuardedAnalysis>(who, made(entry.make, options, who));
}

Settings Plugins::filter_settings() const {
    Settings settings;
    settings.custom = [this](const std::string& name, const plugin::Options& options) {
        return filter(name, options);
    };
    return settings;
}

std::string Plugins::list() const {
    std::string lines;
    for (const auto& [name, entry] : filters_) {
        lines += fmt::format("filter   @{:<20} {}\n", name, entry.help);
    }
    for (const auto& [name, entry] : analyses_) {
        lines += fmt::format("analysis {:<21} {}\n", name, entry.help);
    }
    return lines;
}

PluggedAnalyses::PluggedAnalyses(const Plugins& plugins, const std::vector<std::string>& wanted) {
    for (const std::string& text : wanted) {
        const Call call = parse_call("analysis", text);
        all_.push_back({text, plugins.analysis(call.name, call.options)});
    }
}

void PluggedAnalyses::add(const Event& event) {
    for (One& one : all_) {
        one.analysis->add(event);
    }
}

void PluggedAnalyses::finish(std::ostream& output) {
    for (One& one : all_) {
        if (all_.size() > 1) {
            output << (&one == &all_.front() ? "" : "\n") << "analysis " << one.title << "\n";
        }
        one.analysis->finish(output);
    }
}

} // namespace mmioscope::filter
