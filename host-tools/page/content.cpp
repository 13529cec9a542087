#include "page/content.hpp"

#include "analysis/count_table.hpp"
#include "file/block.hpp"
#include "file/file_reader.hpp"
#include "file/part_files.hpp"
#include "filter/field.hpp"
#include "filter/filter.hpp"
#include "records/kinds.hpp"
#include "records/ticks.hpp"
#include "system/open_source.hpp"
#include "tree/device_names.hpp"
#include "view/info.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <ranges>

namespace mmioscope::page {

namespace {

std::string field_json(const Field& field) {
    return fmt::format("[{},{},{},{}]", json(field.name), field.low, field.width,
                       json_list(field.values, [](const auto& value) {
                           return fmt::format("[{},{}]", json(value.first), json(value.second));
                       }));
}

std::string line_json(const SourceLine& line) {
    return fmt::format("[{},{},{}]", json(line.function), json(line.file), line.line);
}

/// The entry of `key`, made at first.
template <typename Map, typename Make>
typename Map::mapped_type of(Map& map, const typename Map::key_type& key, const Make& make) {
    const auto found = map.find(key);
    return found != map.end() ? found->second : map.emplace(key, make()).first->second;
}

} // namespace

std::uint32_t EventNames::Set::number(std::string json) {
    const auto [at, added] =
        numbers_.try_emplace(std::move(json), static_cast<std::uint32_t>(all_.size() + 1));
    if (added) {
        all_.push_back(&at->first);
    }
    return at->second;
}

std::string EventNames::Set::all() const {
    std::string list = "[null";
    for (const std::string* one : all_) {
        list.append(",\n").append(*one);
    }
    return list + ']';
}

std::uint32_t EventNames::reg(const Register* reg) {
    return reg == nullptr
               ? 0
               : registers_.number(fmt::format("[{},{},{},{},{}]", json(reg->name), reg->offset,
                                               reg->size, json(reg->description),
                                               json_list(reg->fields, field_json)));
}

std::uint32_t EventNames::place(const Place& place, std::uint16_t device) {
    return places_.number(fmt::format("[{},{},{},{},{}]", device == abi::no_device ? -1 : device,
                                      json(place.device), json(place.offset), reg(place.reg),
                                      json(place.registers)));
}

std::uint32_t EventNames::location(const Location* at) {
    return at == nullptr
               ? 0
               : locations_.number(fmt::format("[{},{},{},{}]", json(at->function), at->offset,
                                               json(at->module), json_list(at->lines, line_json)));
}

std::uint32_t EventNames::task(const Task* task) {
    return task == nullptr
               ? 0
               : tasks_.number(fmt::format("[{},{},{}]", task->pid, task->tgid, json(task->comm)));
}

std::uint32_t EventNames::context(const Event& event) {
    // Events of one context have the same code, caller and task, but an access may be anywhere in a
    // device.
    const auto named = [&] {
        return Context{0, location(event.code()), location(event.caller()), task(event.task()), 0};
    };
    Context context = event.context() == 0 ? named() : of(known_, event.context(), named);
    context[0] = of(known_places_, event.place_id(),
                    [&] { return place(event.place(), event.record.device); });
    if (event.interrupt_id() != no_id) {
        context[4] = of(known_interrupts_, event.interrupt_id(),
                        [&] { return interrupts_.number(json(event.interrupt())); });
    }
    const auto [at, added] =
        numbers_.try_emplace(context, static_cast<std::uint32_t>(sets_.size() + 1));
    if (added) {
        sets_.push_back(context);
    }
    return at->second;
}

void EventNames::add(const Event& event) {
    if (event.number == 0) { // a loss that no record tells
        return;
    }
    contexts_.resize(event.number);
    contexts_.back() = context(event);
    if (!event.text().empty()) {
        texts_.emplace_back(event.number, event.text());
    }
}

std::string EventNames::all() const {
    std::string contexts = "[null";
    for (const Context& one : sets_) {
        fmt::format_to(std::back_inserter(contexts), ",\n[{}]", fmt::join(one, ","));
    }
    return fmt::format("{{\"registers\":{},\"places\":{},\"locations\":{},\"tasks\":{},"
                       "\"interrupts\":{},\"contexts\":{}],\"texts\":{}}}",
                       registers_.all(), places_.all(), locations_.all(), tasks_.all(),
                       interrupts_.all(), contexts, json_list(texts_, [](const auto& one) {
                           return fmt::format("[{},{}]", one.first, json(one.second));
                       }));
}

namespace {

constexpr std::size_t most_rows = 1000;
constexpr std::size_t most_spans = 20'000; ///< of a lane

bool is_number(table::Look look) {
    return look != table::Look::words && look != table::Look::device;
}

std::string table_json(std::string_view title, const table::Table& table) {
    auto shown = table.columns | std::views::filter([](const table::Column& column) {
                     return !column.title.empty();
                 });
    const std::string columns = json_list(shown, [](const table::Column& column) {
        return fmt::format("{{\"name\":{},\"title\":{},\"number\":{}}}", json(column.name),
                           json(column.title), is_number(column.look));
    });
    std::vector<std::string> rows;
    std::size_t more = 0;
    table::each_row(table, [&](const table::Row& row) {
        rows.size() < most_rows ? rows.push_back(json_list(table::shown(table, row)))
                                : void(++more);
    });
    std::string closing = more > 0 ? fmt::format("... {} more", more) : table.closing;
    for (const std::string& line : table.left_out) {
        closing += closing.empty() ? line : '\n' + line;
    }
    return fmt::format("{{\"title\":{},\"columns\":{},\"rows\":[\n{}],\"closing\":{}}}",
                       json(title), columns, fmt::join(rows, ",\n"), json(closing));
}

/// What a lane shows of a span of time, in ns. `event`: number of its first; 0: none.
std::string span_json(std::uint64_t from, std::uint64_t to, std::string_view text,
                      std::uint64_t event) {
    return fmt::format("[{},{},{},{}]", from, to, json(text), event);
}

/// Lines of a log, at their times in ns.
template <typename Lines, typename At>
std::string moments_json(const Lines& lines, const At& at) {
    return json_list(lines | std::views::take(most_spans), [&at](const auto& line) {
        return span_json(at(line), at(line), line.text, 0);
    });
}

} // namespace

void Tables::add(const analysis::Poll& poll) {
    if (poll_spans_.size() < most_spans) {
        const Register* const reg = poll.read.reg();
        poll_spans_.push_back(
            span_json(poll.first.nanoseconds, poll.last.nanoseconds,
                      fmt::format("{} {} {}, {} reads", analysis::kind_text(poll.kind),
                                  poll.read.device(), reg != nullptr ? reg->name : "", poll.reads),
                      poll.first.number));
    }
}

std::string Tables::all(const trace::TraceReader& reader, const trace::Summary& summary,
                        std::span<const analysis::DmesgLine> kernel_log) {
    const std::uint32_t frequency = reader.info() ? reader.info()->counter_frequency : 0;
    const std::uint64_t start = reader.start().value_or(0);
    const auto time_of = [&](std::uint64_t ticks) {
        return trace::nanoseconds(trace::elapsed(start, ticks), frequency);
    };
    const std::uint64_t end = time_of(summary.last().value_or(start));
    const std::uint64_t length = end - time_of(summary.start().value_or(start));
    const bool timed = frequency != 0 && reader.knows("duration");
    std::vector<std::string> tables;
    const auto put = [&](std::string_view title, const table::Table& table) {
        tables.push_back(table_json(title, table));
    };
    put("Findings", advisor_.table(timed ? frequency : 0));
    if (timed) {
        put("Where the time went", time_.table(frequency));
    }
    put("Polls", advisor_.polls().table(most_rows));
    put("Phases", phases_.table());
    put("Sharing", advisor_.sharing().table(most_rows / 5));
    put("Registers", registers_.table());
    const analysis::TableOptions look{timed ? analysis::Order::time : analysis::Order::accesses,
                                      most_rows,
                                      frequency == 0 ? 0 : length,
                                      0,
                                      timed ? frequency : 0,
                                      true,
                                      nullptr};
    for (const analysis::Key key : counts_.keys()) {
        put(fmt::format("By {}", analysis::key_text(key)),
            analysis::count_table(key, counts_.by(key), look));
    }
    const auto head = view::head_tables(reader, summary, end);
    put("Recording", head[0]);
    put("Texts", head[1]);
    put("Losses", head[2]);
    const std::string log = moments_json(kernel_log, [](const analysis::DmesgLine& line) {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(line.nanoseconds, 0));
    });
    const std::string console = moments_json(reader.console().lines(),
                                             [&](const auto& line) { return time_of(line.time); });
    return fmt::format(
        "\"tables\":[{}],\n\"spans\":[[\"polls\",[{}]],\n[\"kernel log\",{}],\n[\"console\",{}]]",
        fmt::join(tables, ",\n"), fmt::join(poll_spans_, ","), log, console);
}

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
