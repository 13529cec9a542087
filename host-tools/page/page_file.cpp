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
#include "system/compressed_source.hpp"
#include "system/open_source.hpp"
#include "tree/device_names.hpp"

#include <algorithm>
#include <ranges>
#include <span>

namespace mmioscope::page {

namespace {

/// Chromium's strings have at most 2^29 - 24 characters, and the page's holds it in Base64.
constexpr std::uint64_t most_bytes = (std::uint64_t{1} << 29) / 4 * 3 - 1024;

// In a data block nothing but "</script" and "<!--" ends the text or changes its meaning
// (HTML, 4.12.1.3).
void write_json(std::string_view rest, const Write& write) {
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

/// Bytes in Base64 (RFC 4648). A piece that others follow has a multiple of 3.
std::string base64(std::span<const std::byte> bytes) {
    static constexpr char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t bits = 0;
    unsigned count = 0; // of bits without a letter yet
    for (const std::byte byte : bytes) {
        bits = bits << 8 | std::to_integer<std::uint32_t>(byte);
        for (count += 8; count >= 6; count -= 6) {
            text += letters[bits >> (count - 6) & 0x3f];
        }
    }
    if (count > 0) {
        text += letters[bits << (6 - count) & 0x3f];
    }
    text.append((4 - text.size() % 4) % 4, '=');
    return text;
}

/// The lowest bytes of all contexts, then the second ones, and so on: four planes, as a frame of
/// zstd.
std::vector<std::byte> packed(std::span<const std::uint32_t> contexts) {
    constexpr int level = 15;
    std::vector<std::byte> planes;
    planes.reserve(contexts.size() * 4);
    for (unsigned shift = 0; shift < 32; shift += 8) {
        for (const std::uint32_t context : contexts) {
            planes.push_back(static_cast<std::byte>(context >> shift));
        }
    }
    return zstd_compress(planes, level);
}

std::string devices_json(const trace::TraceReader& reader) {
    const auto names = filter::names_of_devices(reader);
    const auto short_names = tree::short_names(reader.regions(), reader.tree());
    return json_list(reader.regions(), [&](const abi::RegionEntry& region) {
        const auto index = static_cast<std::uint16_t>(&region - reader.regions().data());
        return fmt::format("{{\"name\":{},\"short\":{},\"base\":{},\"size\":{},\"names\":{}}}\n",
                           json(reader.names()[index]), json(short_names[index]), region.base,
                           region.size, json_list(names[index]));
    });
}

// The language of filters, for the page's own parser: what a field is called, which words stand for
// its values, and what is said of it.
std::string language_json() {
    const std::string kinds = json_list(trace::kinds, [](const trace::Kind& kind) {
        return fmt::format("[\"{}\",{},{:d},{:d},{:d}]", kind.word, static_cast<int>(kind.value),
                           kind.is(trace::Is::placed), kind.is(trace::Is::of_register),
                           kind.is(trace::Is::executed));
    });
    const auto not_empty = [](std::string_view word) { return !word.empty(); };
    const auto taken = [](const filter::EventField& field) { return !field.word().empty(); };
    const std::string fields =
        json_list(filter::fields | std::views::filter(taken), [&](const filter::EventField& field) {
            return fmt::format(
                "{{\"words\":{},\"text\":{},\"folded\":{},\"time\":{},\"values\":{}}}\n",
                json_list(field.words | std::views::filter(not_empty)), field.any != nullptr,
                field.folded, field.unit == filter::EventField::Unit::time,
                json_list(field.values, [](const filter::EventField::Word& word) {
                    return fmt::format("[\"{}\",{}]", word.word, word.value);
                }));
        });
    return fmt::format("\"kinds\":{},\n\"fields\":{}", kinds, fields);
}

std::string facts_json(const What& what, const trace::TraceReader& reader,
                       const reading::Tally& tally, Tables& tables) {
    return fmt::format(
        "{{\"name\":{},\"verdict\":{},\"complete\":{},\"cut\":{},\"hz\":{},"
        "\"start\":\"{}\",\n\"notes\":{},\n\"devices\":{},\n{},\n{}}}",
        json(what.name), json(tally.verdict(reader)), tally.status(reader) == Status::fine,
        what.cut, reader.info() ? reader.info()->counter_frequency : 0, reader.start().value_or(0),
        json_list(
            what.notes,
            [](const auto& note) { return fmt::format("[{},{}]", note.first, json(note.second)); }),
        devices_json(reader), language_json(),
        tables.all(reader, tally.summary(), what.kernel_log));
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
    const FileDescriptor file = open_input(what.trace.path);
    FileSource source(file.get());
    if (source.size().value_or(0) > most_bytes) {
        throw bad_input("no browser holds a page of {}, {} MB of trace: choose a part by --from, "
                        "--to or -F",
                        what.name, *source.size() / 1'000'000);
    }
    reading::Trace trace(what.trace);
    reading::Tally tally(false);
    EventNames names;
    Tables tables;
    std::vector<reading::Consumer*> consumers = tables.consumers();
    consumers.insert(consumers.end(), {&tally, &names});
    reading::drive(trace, consumers, what.drive);

    std::string_view rest = shell();
    const auto write_up_to = [&](std::string_view place) {
        const std::size_t at = rest.find(place);
        write(rest.substr(0, at));
        rest.remove_prefix(at + place.size());
    };
    write_up_to("@FACTS@");
    write_json(facts_json(what, trace.reader(), tally, tables), write);
    write_up_to("@NAMES@");
    write_json(names.all(), write);
    write_up_to("@CONTEXTS@");
    write(base64(packed(names.contexts())));
    write_up_to("@TRACE@");
    std::vector<std::byte> piece(3 << 16);
    while (const std::size_t size = source.read(piece.data(), piece.size())) {
        write(base64(std::span(piece).first(size)));
    }
    write(rest);
    return {tally.verdict(trace.reader()), tally.status(trace.reader()), names.contexts().size()};
}

} // namespace mmioscope::page
