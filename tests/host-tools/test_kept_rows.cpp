// Rows with cached texts: the same as rows made anew for each event.
#include "export/formats.hpp"
#include "export/row_text.hpp"
#include "records.hpp"
#include "records/record_text.hpp"
#include "table/table.hpp"
#include "view/line.hpp"
#include "wires.hpp"

#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

using namespace mmioscope;
using namespace mmioscope::test;
using exporting::RowForm;

namespace {

constexpr std::uint32_t frequency = 62'500'000;

/// Events with few names, which recur with other numbers.
class RandomEvents final : public Names {
public:
    RandomEvents() { forget(); }

    Event next() {
        Event event;
        abi::Record& r = event.record;
        r.type = static_cast<abi::RecordType>(below(4) != 0 ? 1 : below(17));
        r.cpu = static_cast<std::uint8_t>(below(3));
        r.time = number();
        r.duration = static_cast<std::uint32_t>(number());
        r.lock_sequence = static_cast<std::uint32_t>(number());
        r.cpu_sequence = static_cast<std::uint32_t>(number());
        r.lr = static_cast<std::uint32_t>(number());
        r.sp = static_cast<std::uint32_t>(below(4) != 0 ? below(2) : number()); // usually as before
        r.va = static_cast<std::uint32_t>(below(4) != 0 ? below(2) : number());
        r.flags = static_cast<std::uint8_t>(below(4) != 0 ? 0 : below(64));
        r.value = below(2) == 0 ? below(5) : number();
        event.nanoseconds = time_ = below(4) != 0 ? time_ + below(1'500'000) : number();
        event.names = this;
        event.number = ++numbers_;
        if (below(20) == 0) {
            notes_[event.number] = word();
        }
        event.ids = {no_id, no_id, no_id, no_id, no_id, no_id};
        if (below(20) == 0) {
            event.ids.interrupt = text();
        }
        if (below(20) == 0) {
            event.ids.text = text();
        }
        if (trace::has_place(r.type)) {
            give_place(event, below(contexts));
        }
        return event;
    }

    /// All ids change their meaning.
    Id payload_of(const Event&) override {
        payloads_.push_back(&payload_);
        return static_cast<Id>(payloads_.size() - 1);
    }
    void forget() {
        kept_.clear();
        payloads_.resize(1);
        places_.resize(1), locations_.resize(1), tasks_.resize(1), texts_.resize(1);
        first_context_ += contexts;
        for (unsigned i = 0; i < 40; ++i) {
            texts_.push_back(word());
            Register& reg = registers_.at(i);
            reg = {std::string(word()), i, below(2) == 0 ? 4u : 8u, "", {}};
            for (unsigned low = 0, fields = below(5); fields > 0; --fields) {
                const unsigned width = below(3) == 0 ? 1 : 1 + below(31);
                reg.fields.push_back({std::string(word()), low, width, {}});
                if (below(4) == 0) {
                    reg.fields.back().values = {{0, std::string(word())}, {3, "three"}};
                }
                low += width;
            }
            places_.push_back(
                {below(9) == 0 ? "-" : word(), i + below(2), below(3) == 0 ? nullptr : &reg});
            codes_.at(i) = {std::string(word()),
                            below(1000),
                            std::string(word()),
                            {{"f", std::string(word()), 12}}};
            locations_.push_back(&codes_.at(i));
            people_.at(i) = {below(1000), 1, std::string(word())};
            tasks_.push_back(&people_.at(i));
        }
    }

private:
    const Payload payload_{{1, 2, 0xff}, {}, true, false};
    static constexpr unsigned contexts = 1500; ///< more than the cache has

    unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
    std::uint64_t number() { return random_() >> below(64); }
    Id text() { return 1 + below(40); }

    std::string_view word() {
        static const std::string signs = "aB9_ ,\"\\\r\n\t\x01\x7f\xc3\xa9\xff'0x0=";
        const unsigned size = below(9) == 0 ? 700 : below(12);
        std::string& to = kept_.emplace_back();
        while (to.size() < size) {
            to += signs[below(static_cast<unsigned>(signs.size()))];
        }
        return to;
    }

    // The same number has the same names, and the record's fields agree with them.
    void give_place(Event& event, unsigned context) {
        abi::Record& r = event.record;
        std::mt19937_64 of(first_context_ + context);
        const auto id = [&of] { return static_cast<Id>(of() % 41); };
        event.ids.place = 1 + static_cast<Id>(of() % 40);
        event.ids.code = id();
        event.ids.caller = id();
        event.ids.task = id();
        // The size depends on the place.
        r.access = abi::encode_access(event.ids.place % 2 == 0, event.ids.place % 4);
        r.access |= static_cast<std::uint8_t>(below(8) << 4);
        r.device = static_cast<std::uint16_t>(of() % 3 == 0 ? abi::no_device : of() % 9);
        abi::set_physical_address(r, of() >> 24);
        r.pc = of() % 5 == 0 ? 0 : static_cast<std::uint32_t>(of());
        r.task = of() % 5 == 0 ? 0 : static_cast<std::uint32_t>(of());
        r.mode = static_cast<std::uint8_t>(of() % 64);
        event.context_number = of() % 9 == 0 ? 0 : first_context_ + context;
    }

    void resolve(std::span<const Event> events) override {
        for (const Event& event : events) {
            if (event.ids.caller == unasked) {
                event.ids.place = event.ids.code = event.ids.caller = event.ids.task = no_id;
            }
        }
    }
    Id interrupt_of(const Event&) override { return no_id; }
    Id text_of(const Event&) override { return no_id; }

    std::mt19937_64 random_{17};
    std::uint64_t time_ = 0, numbers_ = 0;
    std::uint64_t first_context_ = 1;
    std::deque<std::string> kept_;
    std::array<Register, 40> registers_;
    std::array<Location, 40> codes_;
    std::array<Task, 40> people_;
};

std::string plain_row(RowForm form, const exporting::ColumnSet& known, const Event& event) {
    fmt::memory_buffer text;
    text.append(std::string_view(form == RowForm::json ? "{" : ""));
    for (std::size_t i = 0; i < exporting::columns.size(); ++i) {
        const table::Cell cell = exporting::Cells(known, frequency).of(i, event);
        if (form == RowForm::json) {
            table::append_json(text, exporting::columns[i].column, cell);
        } else {
            text.append(std::string_view(i == 0 ? "" : ","));
            table::append_csv(text, cell);
        }
    }
    text.append(std::string_view(form == RowForm::json ? "}" : ""));
    return fmt::to_string(text);
}

/// An event of a CTF stream, field by field.
class PlainEvent {
public:
    void put(std::string_view text) {
        text = text.substr(0, text.find('\0'));
        bytes_.append(text.empty() ? "-" : text).push_back('\0');
    }
    template <std::integral... T>
    void put(T... numbers) {
        (bytes_.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
    }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

/// Ids of events in CTF, which are no record types.
constexpr std::uint8_t ctf_write = 64, ctf_unknown = 65;

std::string plain_ctf(const Event& event, std::uint64_t time) {
    using namespace exporting;
    const abi::Record& r = event.record;
    const bool known = !trace::kind_of(r.type).word.empty();
    const bool store = r.type == abi::RecordType::access && abi::is_write(r);
    PlainEvent to;
    to.put(store   ? ctf_write
           : known ? static_cast<std::uint8_t>(r.type)
                   : ctf_unknown,
           time, r.cpu_sequence);
    to.put(flag_words(r));
    if (r.type == abi::RecordType::gap) {
        to.put(r.cpu_sequence, r.value);
    } else if (!trace::has_place(r.type)) {
        const bool part = r.type == abi::RecordType::task || r.type == abi::RecordType::payload;
        if (trace::has_instruction(r.type)) {
            to.put(r.pc);
            to.put(code_words(event.code()));
            to.put(code_words(event.caller()));
            to.put(r.sp, r.task);
        } else if (known && !part) {
            to.put(r.value);
        }
        to.put(plain_text(event.text()));
        to.put(payload_words(event));
        to.put(event.note());
    } else {
        const Task* const task = event.task();
        to.put(event.device() == "-" ? abi::no_device : r.device, event.offset());
        to.put(event.reg() == nullptr ? "" : std::string_view(event.reg()->name));
        to.put(static_cast<std::uint8_t>(abi::access_size(r)), r.value,
               static_cast<std::uint8_t>(has_bus_value(r) ? 1 : 0));
        to.put(field_words(event));
        to.put(abi::physical_address(r), std::uint64_t{r.duration}, r.lock_sequence, r.pc);
        to.put(code_words(event.code()));
        to.put(r.lr);
        to.put(code_words(event.caller()));
        to.put(r.sp, r.va, r.mode, r.task, task == nullptr ? 0u : task->pid);
        to.put(task == nullptr ? "" : std::string_view(task->comm));
        to.put(event.interrupt());
        to.put(plain_text(event.text()));
        to.put(payload_words(event));
        to.put(event.note());
    }
    return to.bytes();
}

/// The events of a stream file whose packets have no header before their context.
std::string events_of(const std::filesystem::path& stream) {
    std::ifstream file(stream, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    constexpr std::size_t context = 44, bits_at = 16;
    std::string events;
    for (std::size_t at = 0; at < bytes.size();) {
        std::uint64_t bits = 0;
        REQUIRE(at + context <= bytes.size());
        std::memcpy(&bits, bytes.data() + at + bits_at, sizeof bits);
        REQUIRE((bits / 8 >= context && bits / 8 <= bytes.size() - at));
        events += bytes.substr(at + context, bits / 8 - context);
        at += bits / 8;
    }
    return events;
}

constexpr unsigned events = 12'000;
constexpr unsigned events_between_forgetting = 4'000;
constexpr unsigned compared = 5; // checks one in this many: making it anew takes long

} // namespace

TEST_CASE("rows made from cached texts equal newly made rows") {
    const RowForm form = GENERATE(RowForm::json, RowForm::csv);
    exporting::ColumnSet known = exporting::ColumnSet().set();
    known[0] = known[11] = known[12] = known[15] = GENERATE(true, false);
    CAPTURE(form, known.to_string());
    RandomEvents random;
    exporting::RowText rows(form, {known, frequency});
    for (unsigned i = 0; i < events; ++i) {
        if (i % events_between_forgetting == 0) {
            random.forget();
            rows.forget();
        }
        const Event event = random.next();
        fmt::memory_buffer row;
        row.append(std::string_view("before\n"));
        rows.append(row, event);
        if (i % compared == 0) {
            REQUIRE(fmt::to_string(row) == "before\n" + plain_row(form, known, event));
        }
    }
}

// Raw lines, whose columns do not grow with their content.
TEST_CASE("lines made from cached texts equal newly made lines") {
    view::LineStyle style;
    style.frequency = frequency;
    style.raw = true;
    style.pc = GENERATE(true, false);
    RandomEvents random;
    view::LineFormat kept(style);
    for (unsigned i = 0; i < events; ++i) {
        if (i % events_between_forgetting == 0) {
            random.forget();
            kept.forget();
        }
        const Event event = random.next();
        CAPTURE(i);
        TextBuffer line;
        if (kept.append_lines(line, {&event, 1}) == 0) {
            kept.append(line, event);
            line.append('\n');
        }
        if (i % compared != 0) {
            continue;
        }
        TextBuffer expected;
        view::LineFormat(style).append(expected, event);
        REQUIRE(line.view() == std::string(expected.view()) + '\n');
    }
}

TEST_CASE("CTF events made from cached texts equal newly made events") {
    const Folder folder;
    const std::filesystem::path trace = folder / "trace";
    std::map<unsigned, std::string> expected;
    std::map<unsigned, std::uint64_t> last;
    {
        RandomEvents random;
        const auto ctf = exporting::make_ctf(trace, "trace");
        for (unsigned i = 0; i < events; ++i) {
            if (i % events_between_forgetting == 0) {
                random.forget();
                ctf->forget();
            }
            const Event event = random.next();
            ctf->add(event);
            std::uint64_t& time = last[event.record.cpu];
            time = std::max(time, event.record.time);
            expected[event.record.cpu] += plain_ctf(event, time);
        }
        ctf->finish();
    }
    REQUIRE(expected.size() == 3);
    for (const auto& [cpu, bytes] : expected) {
        CHECK(events_of(trace / fmt::format("cpu{}", cpu)) == bytes);
    }
}

TEST_CASE("numbers of each length are printed") {
    std::mt19937_64 random(1);
    TextBuffer text;
    std::string expected;
    const auto add = [&](std::uint64_t number) {
        text.decimal(number), text.append(' '), text.hex(number), text.append(' ');
        expected += fmt::format("{} {:#x} ", number, number);
    };
    for (std::uint64_t power = 1, i = 0; i < 20; ++i, power *= 10) {
        add(power - 1), add(power), add(power + 1);
    }
    for (std::uint64_t number = 0; number < 100'000; ++number) {
        add(number), add(number * 1000 + 999);
    }
    for (unsigned i = 0; i < 100'000; ++i) {
        add(random() >> random() % 64);
    }
    CHECK((text.view() == expected));
}
