#include "plugin/analyses.hpp"

#include "filter/call.hpp"

namespace mmioscope::plugin {

Analyses::Analyses(const Plugins& plugins, const std::vector<std::string>& wanted) {
    for (const std::string& text : wanted) {
        const filter::Call call = filter::parse_call("analysis", text);
        all_.push_back({text, plugins.analysis(call.name, call.options)});
    }
}

void Analyses::add(const Event& event) {
    for (One& one : all_) {
        one.analysis->add(event);
    }
}

void Analyses::finish(std::ostream& output) {
    for (One& one : all_) {
        if (all_.size() > 1) {
            output << (&one == &all_.front() ? "" : "\n") << "analysis " << one.title << "\n";
        }
        one.analysis->finish(output);
    }
}

} // namespace mmioscope::plugin
