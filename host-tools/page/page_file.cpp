#include "page/page_file.hpp"

#include "file/block.hpp"
#include "file/file_reader.hpp"
#include "file/part_files.hpp"
#include "filter/field.hpp"
#include "filter/filter.hpp"
#include "page/json.hpp"
#include "page/names.hpp"
#include "page/tables.hpp"
#include "reading/tally.hpp"
#include "records/kinds.hpp"
#include "system/open_source.hpp"
#include "tree/device_names.hpp"

#include <zstd.h>

#include <array>
#include <cstring>
#include <iterator>
#include <ranges>
#include <span>
#include <vector>

namespace mmioscope::page {

namespace {

void append_strings(Text& to, std::string_view name, const std::vector<std::string>& all) {
    append_list(to, name, all, [&to](const std::string& one) { append_json(to, one); });
}

// In a data block nothing but "</script" and "<!--" ends the text or changes its meaning
// (HTML, 4.12.1.3).
void write_json(const Text& text, const Write& write) {
    std::string_view rest(text.data(), text.size());
    while (!rest.empty()) {
        const std::size_t at = std::min(rest.find('<'), rest.size());
        write(rest.substr(0, at));
        rest.remove_prefix(at);
        if (!rest.empty()) {
            write("\\u003c");
            rest.remove_prefix(1);
        }
    }
}

/// Writes bytes in Base64 (RFC 4648), piece by piece.
class Base64 {
public:
    explicit Base64(const Write& write) : write_(write) {}

    void put(std::span<const std::byte> bytes) {
        for (const std::byte byte : bytes) {
            group_ = group_ << 8 | std::to_integer<std::uint32_t>(byte);
            if (++count_ == 3) {
                put_group(4);
            }
        }
    }
    void finish() {
        if (count_ > 0) {
            const unsigned letters = count_ + 1;
            group_ <<= 8 * (3 - count_);
            put_group(letters);
        }
        write_(std::string_view(text_.data(), text_.size()));
        text_.clear();
    }

private:
    void put_group(unsigned letters) {
        static constexpr char alphabet[] =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for (unsigned i = 0; i < 4; ++i) {
            text_.push_back(i < letters ? alphabet[group_ >> (18 - 6 * i) & 0x3f] : '=');
        }
        group_ = count_ = 0;
        if (text_.size() >= 1 << 16) {
            write_(std::string_view(text_.data(), text_.size()));
            text_.clear();
        }
    }

    const Write& write_;
    Text text_;
    std::uint32_t group_ = 0;
    unsigned count_ = 0;
};

// The lowest bytes of all contexts, then the second ones, and so on: four planes, as one frame of
// zstd.
std::vector<std::byte> packed(std::span<const std::uint32_t> contexts) {
    constexpr int level = 15;
    std::vector<std::byte> planes;
    planes.reserve(contexts.size() * 4);
    for (unsigned shift = 0; shift < 32; shift += 8) {
        for (const std::uint32_t context : contexts) {
            planes.push_back(static_cast<std::byte>(context >> shift));
        }
    }
    std::vector<std::byte> frame(::ZSTD_compressBound(planes.size()));
    const std::size_t size =
        ::ZSTD_compress(frame.data(), frame.size(), planes.data(), planes.size(), level);
    if (::ZSTD_isError(size) != 0) {
        throw failure("cannot compress the names of events: {}", ::ZSTD_getErrorName(size));
    }
    frame.resize(size);
    return frame;
}

void append_devices(Text& to, const trace::TraceReader& reader) {
    const auto names = filter::names_of_devices(reader);
    const auto short_names = tree::short_names(reader.regions(), reader.tree());
    append_list(to, "devices", reader.regions(), [&](const abi::RegionEntry& region) {
        const auto index = static_cast<std::uint16_t>(&region - reader.regions().data());
        print(to, "\n{{\"name\":");
        append_json(to, reader.names()[index]);
        print(to, ",\"short\":");
        append_json(to, short_names[index]);
        print(to, ",\"base\":{},\"size\":{}", region.base, region.size);
        append_strings(to, "names", names[index]);
        to.push_back('}');
    });
}

// The language of filters, for the page's own parser: what a field is called, which words stand for
// its values, and what is said of it.
void append_language(Text& to) {
    append_list(to, "kinds", trace::kinds, [&to](const trace::Kind& kind) {
        print(to, "[\"{}\",{},{},{}]", kind.word, static_cast<int>(kind.value),
              kind.is(trace::Is::placed) ? 1 : 0, kind.is(trace::Is::of_register) ? 1 : 0);
    });
    auto taken = filter::fields | std::views::filter([](const filter::EventField& field) {
                     return !field.word().empty();
                 });
    append_list(to, "fields", taken, [&to](const filter::EventField& field) {
        print(to, "\n{{\"words\":[\"{}\"", field.words[0]);
        if (!field.words[1].empty()) {
            print(to, ",\"{}\"", field.words[1]);
        }
        print(to, "],\"text\":{},\"folded\":{},\"time\":{}", field.any != nullptr, field.folded,
              field.unit == filter::EventField::Unit::time);
        append_list(to, "values", field.values, [&to](const filter::EventField::Word& word) {
            print(to, "[\"{}\",{}]", word.word, word.value);
        });
        to.push_back('}');
    });
}

void append_trace(Text& to, const What& what, const trace::TraceReader& reader,
                  const reading::Tally& tally) {
    print(to, "{{\"name\":");
    append_json(to, what.name);
    print(to, ",\"verdict\":");
    append_json(to, tally.verdict(reader));
    print(to, ",\"complete\":{},\"cut\":{},\"hz\":{},\"start\":\"{}\"",
          tally.status(reader) == Status::fine, what.cut,
          reader.info() ? reader.info()->counter_frequency : 0, reader.start().value_or(0));
    append_devices(to, reader);
    append_language(to);
}

} // namespace

bool is_packed_file(const std::string& path) {
    if (!trace::part_paths(path).empty()) {
        return false;
    }
    const FileDescriptor file = open_input(path);
    FileSource source(file.get());
    bool sound = true;
    bool packed = false;
    bool ends = false;
    try {
        trace::FileReader reader(source, [&sound](const std::string&) { sound = false; });
        while (const std::optional<trace::Section> section = reader.next()) {
            sound = sound && section->type != abi::SectionType::records;
            packed = packed || section->type == trace::packed_section;
            ends = section->type == abi::SectionType::end;
        }
    } catch (const Error&) { // compressed as a whole
        return false;
    }
    return sound && packed && ends;
}

Verdict write_page(const What& what, const Write& write) {
    reading::Trace trace(what.trace);
    reading::Tally tally(false);
    EventNames names;
    Tables tables;
    reading::drive(trace, {&tally, &names, &tables}, {});

    std::string_view rest = shell();
    const auto write_up_to = [&](std::string_view place) {
        const std::size_t at = rest.find(place);
        write(rest.substr(0, at));
        rest.remove_prefix(at + place.size());
    };
    Text text;
    write_up_to("@FACTS@");
    append_trace(text, what, trace.reader(), tally);
    tables.write(text, trace.reader(), tally.summary());
    text.push_back('}');
    write_json(text, write);
    write_up_to("@NAMES@");
    text.clear();
    text.push_back('{');
    names.write(text);
    text.push_back('}');
    write_json(text, write);
    Base64 coded(write);
    write_up_to("@CONTEXTS@");
    coded.put(packed(names.contexts()));
    coded.finish();
    write_up_to("@TRACE@");
    const FileDescriptor file = open_input(what.trace.path);
    FileSource source(file.get());
    std::vector<std::byte> piece(1 << 16);
    while (const std::size_t size = source.read(piece.data(), piece.size())) {
        coded.put(std::span(piece).first(size));
    }
    coded.finish();
    write(rest);
    return {tally.verdict(trace.reader()), tally.status(trace.reader())};
}

} // namespace mmioscope::page
