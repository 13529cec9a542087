#include "export/perfetto_names.hpp"

#include <protozero/pbf_writer.hpp>

#include <utility>

namespace mmioscope::exporting {

PerfettoNames::Numbers& PerfettoNames::of(Kind kind) {
    return kind == Kind::event ? events_ : kind == Kind::note ? notes_ : texts_;
}

std::uint64_t PerfettoNames::number_of(Kind kind, std::string_view text) {
    constexpr unsigned number_field = 1;
    constexpr unsigned text_field = 2;
    Numbers& numbers = of(kind);
    const auto found = numbers.find(text);
    if (found != numbers.end()) {
        return found->second;
    }
    const std::uint64_t number = numbers.size() + 1;
    numbers.emplace(text, number);
    protozero::pbf_writer all(added_);
    protozero::pbf_writer entry(all, static_cast<unsigned>(kind));
    entry.add_uint64(number_field, number);
    entry.add_string(text_field, text.data(), text.size());
    return number;
}

std::string PerfettoNames::take_added() {
    return std::exchange(added_, {});
}

bool PerfettoNames::begin_packet() {
    if (events_.size() + texts_.size() > most) {
        events_.clear();
        notes_.clear();
        texts_.clear();
    }
    return notes_.empty();
}

} // namespace mmioscope::exporting
