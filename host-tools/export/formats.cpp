#include "export/formats.hpp"

#include "export/csv.hpp"
#include "export/jsonl.hpp"
#include "export/output.hpp"
#include "export/sink.hpp"
#include "lib/error.hpp"

namespace mmioscope::exporting {

namespace {

/// A format that is a sequence of bytes.
template <typename Format>
class Bytes : public Destination {
public:
    explicit Bytes(const std::string& path)
        : output_(path), sink_(output_.fd(), output_.name()), exporter_(sink_) {}

    Exporter& exporter() override { return exporter_; }
    bool terminal() const override { return output_.terminal(); }
    void finish() override { output_.finish(); }

private:
    Output output_;
    Sink sink_;
    Format exporter_;
};

template <typename Kind>
std::unique_ptr<Destination> open(const std::string& path) {
    return std::make_unique<Kind>(path);
}

struct Format {
    std::string_view name;
    std::unique_ptr<Destination> (*open)(const std::string& path);
};

constexpr Format formats[] = {
    {"jsonl", open<Bytes<JsonLines>>},
    {"csv", open<Bytes<Csv>>},
};

} // namespace

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    for (const Format& format : formats) {
        names.emplace_back(format.name);
    }
    return names;
}

std::unique_ptr<Destination> open_destination(std::string_view format, const std::string& path) {
    for (const Format& known : formats) {
        if (known.name == format) {
            return known.open(path);
        }
    }
    throw bad_input("no format '{}'", format);
}

} // namespace mmioscope::exporting
