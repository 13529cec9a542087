#include "lib/trace_reader.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace mmioscope::trace {

namespace {

/// As many whole T as `payload` holds.
template <typename T>
void copy_array(std::span<const std::byte> payload, std::vector<T>& to) {
    to.resize(payload.size() / sizeof(T));
    if (!to.empty()) {
        std::memcpy(to.data(), payload.data(), to.size() * sizeof(T));
    }
}

/// The one T a payload holds; a newer writer may have put more behind it.
template <typename T>
std::optional<T> copy_one(std::span<const std::byte> payload) {
    if (payload.size() < sizeof(T)) {
        return std::nullopt;
    }
    T value;
    std::memcpy(&value, payload.data(), sizeof value);
    return value;
}

} // namespace

TraceReader::TraceReader(ByteSource& source, const Report& report)
    : file_(source, [this, report](const std::string& text) {
          damaged_ = true;
          report(text);
      }) {
    while (!fresh_ && !end_ && read_section()) {
    }
}

std::span<const abi::Record> TraceReader::next() {
    while (!fresh_ && !end_ && read_section()) {
    }
    if (!fresh_) {
        return {};
    }
    fresh_ = false;
    start_ = start_.value_or(records_.front().time);
    count_ += records_.size();
    return records_;
}

bool TraceReader::sound() const {
    return !damaged_ && end_ && end_->records == count_;
}

bool TraceReader::read_section() {
    const std::optional<Section> section = file_.next();
    if (!section || (section->cut && section->type != abi::SectionType::records)) {
        return false;
    }
    const std::span<const std::byte> payload = section->payload;
    if (section->type == tasks_section) {
        tasks_.add(payload);
        return true;
    }
    switch (section->type) {
    case abi::SectionType::info: info_ = copy_one<abi::Info>(payload); break;
    case abi::SectionType::device_tree:
        tree_.assign(payload.begin(), payload.end());
        names_ = DeviceNames(regions_, tree_);
        break;
    case abi::SectionType::regions:
        copy_array(payload, regions_);
        names_ = DeviceNames(regions_, tree_);
        break;
    case abi::SectionType::records:
        copy_array(payload, records_);
        fresh_ = !records_.empty();
        break;
    case abi::SectionType::losses: copy_array(payload, losses_); break;
    case abi::SectionType::statistics: copy_array(payload, statistics_); break;
    case abi::SectionType::text: read_text(payload); break;
    case abi::SectionType::previous_boot: break; // `blackbox` reads it
    case abi::SectionType::end: end_ = copy_one<abi::End>(payload); break;
    }
    return true;
}

void TraceReader::read_text(std::span<const std::byte> payload) {
    std::string_view rest(reinterpret_cast<const char*>(payload.data()), payload.size());
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const std::size_t equals = line.find('=');
        if (equals != std::string_view::npos) {
            text_[std::string(line.substr(0, equals))] = line.substr(equals + 1);
        }
    }
}

} // namespace mmioscope::trace
