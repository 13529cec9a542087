// Plug-ins: the example works, and invalid ones are refused in one line.
#include "filter/filter.hpp"
#include "filter/plugins.hpp"
#include "sample_event.hpp"
#include "system/error.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace mmioscope;
using namespace mmioscope::test;
using filter::Filter;
using filter::Plugins;

namespace {

/// Built beside this program by tests/plugin/plugin.mk.
std::string library(const std::string& name) {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    return (here / "plugins" / (name + ".so")).string();
}

/// The line of error of `call`, with NAME for the path of plug-in NAME.
template <typename Call>
std::string complaint(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        CHECK(error.status() == Status::bad_input);
        std::string text = error.what();
        CHECK(text.find('\n') == std::string::npos);
        const std::string folder = library("");
        const std::string prefix = folder.substr(0, folder.size() - 3);
        for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
            text.erase(at, prefix.size());
        }
        return text;
    }
    return "no error";
}

std::string load_complaint(const std::string& name) {
    return complaint([&name] { Plugins({library(name)}); });
}

} // namespace

TEST_CASE("the example's filter keeps the first access to each address") {
    const Plugins plugins({library("example")});
    const Filter filter("@first_access && r", plugins.filter_settings());
    SampleEvent sample;
    CHECK(filter(sample.event()));
    CHECK_FALSE(filter(sample.event()));
    sample.record.pa_low += 4;
    CHECK(filter(sample.event()));
    CHECK_FALSE(filter(sample.event()));
}

TEST_CASE("the example's analysis counts how long accesses took") {
    const Plugins plugins({library("example")});
    filter::PluggedAnalyses analyses(plugins, {"latency", "latency(tick=100)"});
    CHECK_FALSE(analyses.empty());
    SampleEvent sample; // 40 ticks
    analyses.add(sample.event());
    analyses.add(sample.event());
    sample.record.duration = 0;
    analyses.add(sample.event());
    std::ostringstream output;
    analyses.finish(output);
    CHECK(output.str() == "analysis latency\n"
                          "below            1 ns          1\n"
                          "below         1024 ns          2\n"
                          "\nanalysis latency(tick=100)\n"
                          "below            1 ns          1\n"
                          "below         4096 ns          2\n");
}

TEST_CASE("filters and analyses of plug-ins are listed") {
    CHECK(Plugins({library("example")}).list() ==
          "filter   @first_access         The first access to each address\n"
          "analysis latency               How long accesses took; tick=NS is a tick of the board's "
          "counter\n");
    CHECK(Plugins().list().empty());
}

TEST_CASE("a library that is not a plug-in of this program is refused in one line") {
    CHECK(load_complaint("no_plugin") ==
          "plug-in no_plugin.so: not a plug-in for mmioscope (it has no MMIOSCOPE_PLUGIN)");
    CHECK(load_complaint("wrong_version") == "plug-in wrong_version.so: made for version 999 of "
                                             "the interface; this program has version 5");
    CHECK(load_complaint("other_headers") ==
          "plug-in other_headers.so: built with other headers than this program; rebuild it");
    CHECK(load_complaint("no_entry") == "plug-in no_entry.so: it lacks mmioscope_plugin_register");
    CHECK(load_complaint("throws_loading") == "plug-in throws_loading.so: not today");
    CHECK(load_complaint("bad_name") ==
          "plug-in bad_name.so: 'two words' is not a name (letters, digits and _)");
    CHECK(load_complaint("absent") ==
          "plug-in absent.so: cannot open shared object file: No such file or directory");
    CHECK(complaint([] {
              Plugins({library("example"), library("example")});
          }) == "plug-in example.so: 'first_access' is already registered by example.so");
}

TEST_CASE("a file that is not a library is refused in one line") {
    const std::string path = library("text");
    std::ofstream(path) << "not a library\n";
    CHECK(complaint([&path] { Plugins({path}); }) == "plug-in text.so: file too short");
    std::ofstream(path) << std::string(10'000, 'x');
    CHECK(complaint([&path] { Plugins({path}); }) == "plug-in text.so: invalid ELF header");
    std::filesystem::remove(path);
}

TEST_CASE("an exception that a plug-in throws is caught, and the plug-in named") {
    const Plugins plugins({library("throws"), library("example")});
    const filter::Settings settings = plugins.filter_settings();
    const SampleEvent sample;
    const auto filter = [&](const char* text) {
        return complaint([&] { Filter(text, settings)(sample.event()); });
    };
    CHECK(filter("@keeping") == "plug-in throws.so, filter keeping: two lines");
    CHECK(filter("@number") ==
          "plug-in throws.so, filter number: threw something other than a std::exception");
    CHECK(filter("r && @making(a=1)") == "filter: column 6: plug-in throws.so, filter making: no "
                                         "such option: r && <here>@making(a=1)");
    CHECK(filter("@nothing") ==
          "filter: column 1: plug-in throws.so, filter nothing: created nothing: "
          "<here>@nothing");
    CHECK(filter("@other") ==
          "filter: column 1: there is no filter 'other' (there are: first_access, keeping, making, "
          "nothing, number): <here>@other");
    CHECK(filter("@first_access(a=1, a=2)") ==
          "filter: column 20: 'a' is given twice: @first_access(a=1, <here>a=2)");
    CHECK(filter("@first_access(a)").starts_with("filter: column 16: expected '='"));
}

TEST_CASE("an exception that an analysis throws is caught, and the analysis named") {
    const Plugins plugins({library("throws"), library("example")});
    const auto make = [&plugins](const char* text) {
        return complaint([&] { filter::PluggedAnalyses(plugins, {text}); });
    };
    CHECK(make("latency(ticks=3)") == "plug-in example.so, analysis latency: there is no option "
                                      "'ticks' (there is: tick)");
    CHECK(make("other") == "there is no analysis 'other' (there are: ending, latency)");
    CHECK(make("latency(") == "analysis: column 9: expected an option after '(': latency(<here>");
    CHECK(make("latency x") == "analysis: column 9: expected nothing more: latency <here>x");
    filter::PluggedAnalyses analyses(plugins, {"ending"});
    const SampleEvent sample;
    CHECK(complaint([&] { analyses.add(sample.event()); }) ==
          "plug-in throws.so, analysis ending: cannot add");
    std::ostringstream output;
    CHECK(complaint([&] { analyses.finish(output); }) ==
          "plug-in throws.so, analysis ending: cannot finish");
}
