#include "records/module_mark.hpp"

#include "abi/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace mmioscope::trace {

namespace {

/// One piece of a marker's text.
constexpr std::string_view beginning = "module: ";
static_assert(beginning.size() == sizeof abi::Record::value);

/// Removes the text before the next blank, or all of it, and returns it.
std::string_view next_word(std::string_view& text) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
}

/// 0, which is neither a base nor a size, if `word` is not a number.
std::uint32_t number(std::string_view word, int base) {
    std::uint32_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data(), end, value, base);
    return error == std::errc() && rest == end ? value : 0;
}

bool starts(const abi::Record& record) {
    return std::memcmp(&record.value, beginning.data(), beginning.size()) == 0;
}

bool ends(const abi::Record& record) {
    return std::memchr(&record.value, 0, sizeof record.value) != nullptr;
}

} // namespace

std::string module_mark(std::string_view name, std::uint32_t base, std::uint32_t size) {
    return fmt::format("{}{} {:#x} {}", beginning, name, base, size);
}

std::optional<LoadedModule> module_of_mark(std::string_view marker, std::uint64_t time) {
    if (marker.size() < 2 || marker.front() != '"' || marker.back() != '"') {
        return std::nullopt;
    }
    std::string_view text = marker.substr(1, marker.size() - 2);
    if (!text.starts_with(beginning)) {
        return std::nullopt;
    }
    text.remove_prefix(beginning.size());
    const std::string_view name = next_word(text);
    const std::string_view place = next_word(text);
    const std::uint32_t base = place.starts_with("0x") ? number(place.substr(2), 16) : 0;
    const std::uint32_t size = number(text, 10); // the rest
    if (name.empty() || name.size() > LoadedModule::most_name || base == 0 || size == 0 ||
        size > most_module_size || size > ~base) {
        return std::nullopt;
    }
    LoadedModule module;
    module.name = name;
    module.base = base;
    module.size = size;
    module.live = true;
    module.marked = true;
    module.time = time;
    module.text.push_back({base, size});
    return module;
}

bool ModuleMarks::has(const abi::Record& record) {
    if (record.type != abi::RecordType::marker ||
        abi::control::tag_command(record.pa_low) != abi::control::Command::marker_text) {
        return false;
    }
    const auto id = static_cast<std::uint16_t>(record.pa_low >> 16);
    const auto open = std::find(next_ids_.begin(), next_ids_.end(), id);
    if (open == next_ids_.end() && !starts(record)) {
        return false;
    }
    if (open != next_ids_.end()) {
        next_ids_.erase(open);
    }
    if (!ends(record)) {
        if (next_ids_.size() == most_open) {
            next_ids_.erase(next_ids_.begin());
        }
        next_ids_.push_back(static_cast<std::uint16_t>(id + 1));
    }
    return true;
}

namespace {

constexpr unsigned piece_size = 8;

unsigned character(const abi::Record& record, unsigned index) {
    return record.value >> (8 * index) & 0xff;
}

bool is_text(const abi::Record& record) {
    return abi::control::tag_command(record.pa_low) == abi::control::Command::marker_text;
}

bool ends_text(const abi::Record& record) {
    for (unsigned i = 0; i < piece_size; ++i) {
        if (character(record, i) == 0) {
            return true;
        }
    }
    return false;
}

void append_piece(std::string& to, const abi::Record& record) {
    for (unsigned i = 0; i < piece_size && character(record, i) != 0; ++i) {
        const auto c = static_cast<char>(character(record, i));
        const bool plain = c >= ' ' && c < 0x7f && c != '"' && c != '\\';
        to += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
}

} // namespace

std::string marker_text(const abi::Record& record) {
    if (!is_text(record)) {
        return fmt::format("{}", record.value);
    }
    std::string text = "\"";
    append_piece(text, record);
    return text + "\"";
}

std::optional<Marker> MarkerTexts::add(const abi::Record& record, std::uint64_t number) {
    if (!is_text(record)) {
        return Marker{record, marker_text(record), number};
    }
    const auto id = static_cast<std::uint16_t>(record.pa_low >> 16);
    auto text = std::find_if(texts_.begin(), texts_.end(),
                             [id](const Text& open) { return open.next_id == id; });
    if (text == texts_.end()) {
        if (ends_text(record)) {
            return Marker{record, marker_text(record), number};
        }
        if (texts_.size() == most_open) {
            return Marker{record, marker_text(record) + "...", number};
        }
        text = texts_.insert(texts_.end(), {0, {}, "", 0});
    }
    append_piece(text->text, record);
    text->record = record;
    text->number = number;
    text->next_id = static_cast<std::uint16_t>(id + 1);
    if (!ends_text(record) && text->text.size() < most_text) {
        return std::nullopt;
    }
    const char* const end = ends_text(record) ? "" : "...";
    Marker whole{record, fmt::format("\"{}\"{}", text->text, end), number};
    texts_.erase(text);
    return whole;
}

std::vector<Marker> MarkerTexts::open() const {
    std::vector<Marker> markers;
    for (const Text& open : texts_) {
        markers.push_back({open.record, fmt::format("\"{}\"...", open.text), open.number});
    }
    return markers;
}

std::size_t MarkerTexts::bytes() const {
    std::size_t bytes = 0;
    for (const Text& open : texts_) {
        bytes += sizeof open + open.text.capacity();
    }
    return bytes;
}

} // namespace mmioscope::trace
