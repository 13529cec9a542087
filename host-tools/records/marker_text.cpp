#include "records/marker_text.hpp"

#include "abi/control.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::trace {

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
