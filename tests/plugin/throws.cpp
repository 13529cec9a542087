// Throws whenever it is called.
#include "mmioscope/plugin.hpp"

namespace {

using namespace mmioscope;

struct Keeping final : plugin::Filter {
    bool keep(const Event&) override { throw std::runtime_error("two\nlines"); }
};

struct Number final : plugin::Filter {
    bool keep(const Event&) override { throw 42; }
};

struct Ending final : plugin::Analysis {
    void add(const Event& event) override {
        if (event.record.cpu != 0) throw std::runtime_error("cannot add");
    }
    void finish(std::ostream&) override { throw std::runtime_error("cannot finish"); }
};

} // namespace

MMIOSCOPE_PLUGIN(registry) {
    registry.filter("keeping", "Throws for each event",
                    [](const plugin::Options&) { return std::make_unique<Keeping>(); });
    registry.filter("number", "Throws a number",
                    [](const plugin::Options&) { return std::make_unique<Number>(); });
    registry.filter("nothing", "Is none", [](const plugin::Options&) { return nullptr; });
    registry.filter("making", "Throws for its options",
                    [](const plugin::Options&) -> std::unique_ptr<plugin::Filter> {
                        throw std::runtime_error("no such option");
                    });
    registry.analysis("ending", "Throws at the end",
                      [](const plugin::Options&) { return std::make_unique<Ending>(); });
}
