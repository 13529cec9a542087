// Records that own the ones behind them (abi/payload.hpp): every reader passes them through whole,
// and tells of those that lack a part.
#include "abi/record_codec.hpp"
#include "export/columns.hpp"
#include "export/part.hpp"
#include "fake_area.hpp"
#include "file/packing.hpp"
#include "file/trace_check.hpp"
#include "mmioscope/trace.hpp"
#include "reading/trace.hpp"
#include "reading_all.hpp"
#include "records/groups.hpp"
#include "rings/black_box.hpp"
#include "rings/merge.hpp"
#include "rings/recorder.hpp"
#include "stream_maker.hpp"
#include "view/printer.hpp"
#include "wire/wire_decoder.hpp"
#include "wires.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <random>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

using Records = std::vector<abi::Record>;

bool same(const abi::Record& a, const abi::Record& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}
bool same(const Records& a, const Records& b) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return same(x, y); });
}

/// Accesses of two CPUs, some with a payload; `most` bytes.
Records groups(std::size_t count, std::size_t most, std::mt19937& random) {
    Records all;
    std::uint32_t sequence[2]{};
    for (std::size_t i = 0; i < count; ++i) {
        const unsigned cpu = random() % 3 == 0 ? 1 : 0;
        abi::Record owner = access(cpu, sequence[cpu], 1000 + 10 * i);
        owner.commit = sequence[cpu] + 1;
        owner.lock_sequence = static_cast<std::uint32_t>(i);
        const std::size_t size = random() % 2 == 0 ? 0 : random() % (most + 1);
        const Records group = test::group(owner, size);
        sequence[cpu] += static_cast<std::uint32_t>(group.size());
        all.insert(all.end(), group.begin(), group.end());
    }
    return all;
}

template <class Coder>
void code(Coder& coder, Records& records, unsigned shift = 0) {
    const auto model = std::make_unique<abi::RecordModel>();
    std::memset(static_cast<void*>(model.get()), 0xa5, sizeof *model); // as frames before leave it
    model->clear();
    abi::RecordCodec<Coder> codec(coder, *model, shift);
    for (abi::Record& record : records) {
        codec.code(record);
    }
}

std::vector<std::uint8_t> encode(Records records, unsigned shift = 0) {
    std::vector<std::uint8_t> bytes(abi::max_coded_record * records.size() + 8);
    abi::Encoder encoder;
    encoder.start(bytes.data(), bytes.size());
    code(encoder, records, shift);
    bytes.resize(encoder.finish());
    return bytes;
}

Records decode(const std::vector<std::uint8_t>& bytes, std::size_t count, unsigned shift = 0) {
    Records records(count);
    abi::Decoder decoder;
    decoder.start(bytes.data(), bytes.size());
    code(decoder, records, shift);
    return records;
}

Bytes trace_of(const Records& records, std::uint64_t lost = 0, std::size_t in_section = 7) {
    return trace_bytes([&](trace::FileWriter& writer) {
        write_info(writer);
        write_regions(writer, {region(0x1c09'0000, 0x1000, "/bus/serial@90000")});
        for (std::size_t at = 0; at < records.size(); at += in_section) {
            writer.append(
                std::span(records).subspan(at).first(std::min(in_section, records.size() - at)));
            writer.flush();
        }
        const abi::Loss loss{0, 0, lost, 0};
        writer.values(abi::SectionType::losses, std::span(&loss, lost > 0 ? 1 : 0));
        writer.finish(lost, abi::Ending::machine_off);
    });
}

/// Calls `take` with each event.
template <typename Take>
void each(const Bytes& bytes, const std::string& filter, bool no_pc, const Take& take) {
    MemorySource source(bytes);
    reading::TraceOptions options;
    options.filter = filter;
    options.no_pc = no_pc;
    options.report = [](const std::string&) {};
    reading::Trace trace(options, source);
    while (const Event* event = trace.next()) {
        take(*event);
    }
}

/// The records of the events.
Records read(const Bytes& bytes) {
    Records all;
    each(bytes, "", false, [&](const Event& event) {
        event.settle();
        CHECK(event.number == all.size() + 1);
        all.push_back(event.record);
        const Records& pieces = event.payload().pieces;
        all.insert(all.end(), pieces.begin(), pieces.end());
    });
    return all;
}

std::vector<std::uint8_t> bytes_behind(const Records& records, std::size_t at) {
    std::vector<std::uint8_t> bytes;
    for (; abi::goes_on(records[at]); ++at) {
        const auto* const first = abi::bytes_of(records[at + 1]);
        bytes.insert(bytes.end(), first, first + abi::bytes_in(records[at + 1]));
    }
    return bytes;
}

void pack(const std::string& path) {
    trace::pack_file(path, open_input(path).get(), [](auto, auto) { return true; });
}

trace::CheckResult check(const Bytes& bytes) {
    MemorySource source(bytes);
    return trace::check_trace(source);
}

/// The lines of `mmioscope check` about `records`.
std::string problems(const Records& records, std::uint64_t lost = 0) {
    std::string all;
    for (const std::string& line : check(trace_of(records, lost)).problems) {
        all += line + "\n";
    }
    return all;
}

/// An access, one with a payload of four pieces, and another access.
Records three() {
    Records all = group(access(0, 0, 10), 0);
    for (const abi::Record& one : group(access(0, 1, 20), 100)) {
        all.push_back(one);
    }
    all.push_back(access(0, 6, 30));
    for (abi::Record& one : all) {
        one.lock_sequence = one.cpu_sequence < 2 ? one.cpu_sequence : 2;
    }
    all.back().lock_sequence = 3;
    for (std::size_t i = 1; i < 6; ++i) {
        all[i].lock_sequence = 1;
    }
    return all;
}

} // namespace

TEST_CASE("a payload comes out of a stream as it went in, whatever is missing of it") {
    std::mt19937 random(1);
    Records records = groups(400, 900, random);
    CHECK(same(decode(encode(records), records.size()), records));
    std::erase_if(records, [&](const abi::Record&) { return random() % 9 == 0; });
    for (std::size_t i = 1; i < records.size(); ++i) {
        if (random() % 9 == 0) {
            std::swap(records[i - 1], records[i]);
        }
    }
    CHECK(same(decode(encode(records), records.size()), records));
    for (abi::Record& record : records) {
        record.time = record.time >> 4 << 4;
        record.duration = 16;
    }
    for (abi::Record& record : records) {
        record.duration = record.type == abi::RecordType::payload ? 0 : 16;
    }
    CHECK(same(decode(encode(records, 4), records.size(), 4), records));
}

TEST_CASE("a piece that is nearly the next one comes out of a stream as it went in") {
    std::mt19937 random(2);
    const Records before = groups(20, 300, random);
    for (std::size_t byte = 0; byte < sizeof(abi::Record); ++byte) {
        Records records = before;
        for (abi::Record& record : records) {
            auto* const bytes = reinterpret_cast<std::uint8_t*>(&record);
            const bool cpu = byte == offsetof(abi::Record, cpu);
            const bool device = byte / 2 == offsetof(abi::Record, device) / 2; // below 256
            if (!cpu && !device && record.type == abi::RecordType::payload && random() % 4 == 0) {
                bytes[byte] ^= static_cast<std::uint8_t>(1 + random() % 255);
            }
        }
        CAPTURE(byte);
        REQUIRE(same(decode(encode(records), records.size()), records));
    }
}

TEST_CASE("a payload in a stream takes little more than its bytes, and less if they repeat") {
    std::mt19937 random(3);
    Records records = groups(300, 900, random);
    std::size_t bytes = 0;
    for (abi::Record& record : records) {
        if (record.type == abi::RecordType::payload) {
            bytes += abi::bytes_in(record);
            for (unsigned i = 0; i < abi::bytes_in(record); ++i) {
                abi::bytes_of(record)[i] = static_cast<std::uint8_t>(random());
            }
        }
    }
    Records owners = records;
    std::erase_if(owners, [](const auto& r) { return r.type == abi::RecordType::payload; });
    const std::size_t without = encode(owners).size();
    CHECK(encode(records).size() - without < bytes + bytes / 20);
    for (abi::Record& record : records) {
        if (record.type == abi::RecordType::payload) {
            std::fill_n(abi::bytes_of(record), abi::bytes_in(record), std::uint8_t{0xc0});
        }
    }
    CHECK(encode(records).size() - without < bytes / 10);
}

TEST_CASE("the records of a group leave the merge one behind the other, also at equal times") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        CAPTURE(seed);
        rings::Merge merge(3);
        Records out;
        std::uint32_t sequence[3]{}, locks[2]{};
        std::uint64_t time = 1000;
        for (unsigned pass = 0; pass < 60; ++pass) {
            std::vector<Records> pushed(3);
            for (auto n = random() % 6; n > 0; --n) {
                const auto cpu = static_cast<unsigned>(random() % 3);
                abi::Record owner = access(cpu, sequence[cpu], time += random() % 4 == 0 ? 1 : 0);
                owner.device = static_cast<std::uint16_t>(random() % 3);
                owner.device = owner.device == 2 ? abi::no_device : owner.device;
                owner.lock_sequence = owner.device == abi::no_device ? 0 : locks[owner.device]++;
                const Records group = test::group(owner, random() % 2 == 0 ? 0 : random() % 200);
                sequence[cpu] += static_cast<std::uint32_t>(group.size());
                pushed[cpu].insert(pushed[cpu].end(), group.begin(), group.end());
            }
            for (unsigned cpu = 0; cpu < 3; ++cpu) {
                merge.push(cpu, std::move(pushed[cpu]));
                merge.set_bound(cpu, time - random() % 2, random() % 2 == 0);
            }
            merge.emit(out);
        }
        merge.flush(out);
        REQUIRE(out.size() == sequence[0] + sequence[1] + sequence[2]);
        for (std::size_t i = 0; i < out.size(); ++i) {
            REQUIRE(abi::goes_on(out[i]) ==
                    (i + 1 < out.size() && out[i + 1].type == abi::RecordType::payload));
            REQUIRE((!abi::goes_on(out[i]) || abi::follows(out[i + 1], out[i])));
        }
    }
}

TEST_CASE("a group that is being written hides what it replaces, and is not there before its end") {
    FakeArea memory(1, 16, abi::Policy::flight);
    const rings::Area area(memory.bytes());
    FakeCpu cpu(memory, 0);
    rings::RingReader reader(area.rings()[0], abi::Policy::flight, abi::host_reader);
    for (std::uint32_t i = 0; i < 16; ++i) {
        cpu.publish(access(0, i, 10 + i));
    }
    const Records group = test::group(access(0, 16, 100), 100);
    cpu.publish(group, false);
    Records out;
    CHECK(reader.drain(out) == 0);
    REQUIRE(out.size() == 16 - group.size());
    CHECK(out.front().cpu_sequence == group.size());
    out.clear();
    cpu.publish(group);
    CHECK(reader.drain(out) == 0);
    CHECK(out.size() == group.size());
}

TEST_CASE("a group whose beginning is overwritten is a loss, and the trace tells of it") {
    FakeArea memory(1, 16, abi::Policy::flight);
    const rings::Area area(memory.bytes());
    FakeCpu cpu(memory, 0);
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    write_info(writer);
    rings::Recorder recorder(area, writer);
    cpu.publish(group(access(0, 0, 10), 10 * 32));
    cpu.publish(access(0, 11, 20));
    cpu.publish(group(access(0, 12, 30), 5 * 32));
    recorder.finish(abi::Ending::machine_off);
    CHECK(recorder.losses().lost() == 2);
    const trace::CheckResult result = check(contents(file.get()));
    CHECK(result.records == 16);
    CHECK(result.lossy);
    REQUIRE(!result.problems.empty());
    CHECK_THAT(result.problems[0], Catch::Equals("1 payloads lack a part, the first at record 0"));
}

TEST_CASE("check: each part of a payload that is missing is told, as a loss or as damage") {
    const Records all = three();
    REQUIRE(problems(all) == "");
    const std::string lack = "1 payloads lack a part, the first at record ";
    for (std::size_t lost = 1; lost < 6; ++lost) { // owner, four pieces
        Records records = all;
        records.erase(records.begin() + static_cast<std::ptrdiff_t>(lost));
        CAPTURE(lost);
        const trace::CheckResult result = check(trace_of(records, 1));
        CHECK(result.lossy);
        CHECK_THAT(problems(records, 1),
                   Catch::Contains(lack + std::to_string(lost) + "\n") &&
                       Catch::Contains("lacks 1 records from sequence " + std::to_string(lost)));
        // The numbers hide it: that is no loss.
        for (std::size_t i = lost; i < records.size(); ++i) {
            --records[i].cpu_sequence;
        }
        CHECK(!check(trace_of(records)).lossy);
        CHECK_THAT(problems(records),
                   Catch::Contains("payloads lack a part, the first at record "));
    }
    Records cut(all.begin(), all.end() - 2); // at its end
    CHECK_THAT(problems(cut), Catch::Contains(lack));
}

TEST_CASE("check: what no writer can have made is damage, with its name") {
    const auto with = [](std::size_t at, auto change) {
        Records records = three();
        change(records[at]);
        const Bytes bytes = trace_of(records);
        CHECK(!check(bytes).lossy);
        return problems(records);
    };
    const std::string impossible = "is a payload with an impossible size or place";
    const std::string none = "is a payload of no record";
    const std::string goes_on = "comes where the payload of the record before it goes on";
    CHECK_THAT(with(2, [](auto& r) { r.access = 33; }), Catch::Contains(impossible));
    CHECK_THAT(with(5, [](auto& r) { r.access = 33; }), Catch::Contains(impossible));
    CHECK_THAT(with(5, [](auto& r) { r.access = 0; }), Catch::Contains(impossible));
    CHECK_THAT(with(3, [](auto& r) { r.access = 7; }), Catch::Contains(impossible));
    CHECK_THAT(with(3, [](auto& r) { r.pa_high = 200; }), Catch::Contains(impossible));
    CHECK_THAT(with(3, [](auto& r) { r.pa_high = 1 + 1; }), Catch::Contains(none));
    CHECK_THAT(with(1, [](auto& r) { r.flags = 0; }), Catch::Contains(none));
    CHECK_THAT(with(0, [](auto& r) { r.flags = abi::flag_payload; }), Catch::Contains(goes_on));
    CHECK_THAT(with(5,
                    [](auto& r) {
                        r.flags = abi::flag_payload;
                        r.access = 32;
                    }),
               Catch::Contains(goes_on));
    CHECK_THAT(with(4, [](auto& r) { r.device = 3; }), Catch::Contains(none));
}

TEST_CASE("a payload of any bytes crashes no reader, and each record keeps its bits") {
    std::mt19937 random(5);
    for (unsigned round = 0; round < 60; ++round) {
        Records records = groups(30, 300, random);
        for (abi::Record& record : records) {
            if (random() % 5 == 0) {
                constexpr std::size_t fields[] = {
                    offsetof(abi::Record, type), offsetof(abi::Record, access),
                    offsetof(abi::Record, flags), offsetof(abi::Record, pa_high)};
                reinterpret_cast<std::uint8_t*>(&record)[fields[random() % 4]] =
                    static_cast<std::uint8_t>(random() % 40);
            }
        }
        const Bytes bytes = trace_of(records);
        check(bytes);
        CHECK(same(read(bytes), records));
    }
}

TEST_CASE("a group is one event, with its payload, also in a packed file and from any place") {
    std::mt19937 random(7);
    const Records records = groups(1500, 4096, random); // of more than one block
    const Folder folder;
    const std::string plain = folder / "plain.mmio";
    const std::string packed = folder / "packed.mmio";
    for (const std::string& path : {plain, packed}) {
        append(create_output(path).get(), trace_of(records, 0, 500), "a test's file");
    }
    pack(packed);
    CHECK(std::filesystem::file_size(packed) < std::filesystem::file_size(plain));
    for (const std::string& path : {plain, packed}) {
        CHECK(same(read(contents(open_input(path).get())), records));
        TraceFile trace(path);
        for (std::size_t at = 0; at < records.size(); at += 1 + random() % 4000) {
            std::size_t head = at;
            while (head < records.size() && records[head].type == abi::RecordType::payload) {
                ++head;
            }
            trace.seek_number(at + 1);
            const Event* const event = trace.next();
            REQUIRE((event == nullptr) == (head == records.size()));
            if (event != nullptr) {
                REQUIRE(event->number == head + 1);
                REQUIRE(event->payload().ends);
                REQUIRE(event->payload().bytes == bytes_behind(records, head));
            }
        }
    }
}

TEST_CASE("a group that lacks a part says so, and has what is there") {
    const Records all = three();
    const auto payloads = [](const Records& records) {
        std::string text;
        each(trace_of(records, 1), "", false, [&](const Event& event) {
            text += fmt::format("{}/{} ", event.record.cpu_sequence,
                                exporting::payload_words(event).substr(0, 10));
        });
        return text;
    };
    const auto without = [&](std::size_t lost) {
        Records records = all;
        records.erase(records.begin() + static_cast<std::ptrdiff_t>(lost));
        return payloads(records);
    };
    CHECK(payloads(all) == "0/ 1/070e151c23 6/ ");
    CHECK(without(1) == "0/ 2/..070e151c 6/ ");
    CHECK(without(2) == "0/ 1/.. 3/..e7eef5fc 6/ ");
    CHECK(without(3) == "0/ 1/070e151c23 4/..c7ced5dc 6/ ");
    CHECK(without(5) == "0/ 1/070e151c23 6/ ");
    Records no_end = all;
    no_end.erase(no_end.begin() + 3, no_end.begin() + 6);
    std::string last;
    each(trace_of(no_end, 3), "", false, [&](const Event& event) {
        last = event.record.cpu_sequence == 1 ? exporting::payload_words(event) : last;
        CHECK(event.payload().begins);
        CHECK(event.payload().ends == (event.record.cpu_sequence != 1));
    });
    CHECK(last.size() == 64 + 2);
    CHECK(last.ends_with(".."));
}

TEST_CASE("a filter decides about a record, and its payload follows it") {
    const Bytes bytes = trace_of(three());
    const auto events = [&](const std::string& filter, bool no_pc = false) {
        std::string numbers;
        each(bytes, filter, no_pc, [&](const Event& event) {
            numbers += fmt::format("{}:{}+{} ", event.number, event.payload().bytes.size(),
                                   event.payload().pieces.size());
            for (const abi::Record& piece : event.payload().pieces) {
                const auto* const first = abi::bytes_of(piece);
                CHECK(std::all_of(first, first + abi::piece_bytes,
                                  [](std::uint8_t byte) { return byte == 0; }) == no_pc);
            }
            event.settle();
        });
        return numbers;
    };
    CHECK(events("") == "1:0+0 2:100+4 7:0+0 ");
    CHECK(events("dev==serial && seq==1") == "2:100+4 ");
    CHECK(events("seq==3").empty());
    CHECK(events("type==payload").empty());
    CHECK(events("type!=access").empty());
    CHECK(events("r || w") == "1:0+0 2:100+4 7:0+0 ");
    CHECK(events("", true) == "1:0+0 2:0+4 7:0+0 ");
}

TEST_CASE("each line of a payload has its bytes, and what is missing has a line") {
    const auto printed = [](const Records& records, bool no_pc = false) {
        std::FILE* const out = std::tmpfile();
        view::Printer printer(out, {}, {});
        each(trace_of(records, 1), "", no_pc, [&](const Event& event) { printer.add(event); });
        printer.finish();
        std::string text(static_cast<std::size_t>(std::ftell(out)), ' ');
        std::rewind(out);
        text.resize(std::fread(text.data(), 1, text.size(), out));
        std::fclose(out);
        return text;
    };
    Records records = three();
    CHECK_THAT(printed(records), Catch::Contains("payload of 1 at 0: 070e151c") &&
                                     Catch::Contains("payload of 1 at 96: "));
    CHECK_THAT(printed(records, true), Catch::Contains("payload of 1 at 0: 32 bytes") &&
                                           Catch::Contains("payload of 1 at 96: 4 bytes"));
    records.erase(records.begin() + 4, records.begin() + 6);
    CHECK_THAT(printed(records), Catch::Contains("payload of 1 at 32: ") &&
                                     Catch::Contains("payload of 1 at 64: missing"));
}

TEST_CASE("a part of a trace by time has all of a group or nothing, wherever sections end") {
    std::mt19937 random(6);
    const Records records = groups(60, 300, random);
    const Bytes bytes = trace_of(records, 0, 5);
    for (std::uint64_t from = 0; from < 600; from += 10) {
        MemorySource source(bytes);
        reading::TraceOptions options;
        options.from = reading::Moment(from * 1000);
        options.to = reading::Moment((from + 50) * 1000);
        reading::Trace trace(options, source);
        while (const Event* event = trace.next()) {
            REQUIRE(event->record.type == abi::RecordType::access);
            REQUIRE(event->payload().ends);
            REQUIRE(event->payload().bytes == bytes_behind(records, event->number - 1));
        }
    }
}

TEST_CASE("a section of a file, a block and a part do not end in a group") {
    std::mt19937 random(8);
    Records records = groups(900, 4096, random);
    const Folder folder;
    const std::string path = folder / "t.mmio";
    append(create_output(path).get(), trace_of(records, 0, records.size()), "a test's file");
    const auto check_sections = [&](const Bytes& bytes, std::size_t sections) {
        MemorySource source(bytes);
        trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
        std::size_t count = 0;
        for (auto some = reader.next(); !some.empty(); some = reader.next()) {
            CHECK(some.front().type != abi::RecordType::payload);
            CHECK(!abi::goes_on(some.back()));
            ++count;
        }
        CHECK(count >= sections);
    };
    check_sections(contents(open_input(path).get()), records.size() / 16384 + 1);
    pack(path);
    check_sections(contents(open_input(path).get()), records.size() / 4096 + 1);
    for (const bool no_pc : {false, true}) {
        exporting::Part part({"", no_pc, false});
        reading::TraceOptions options;
        options.path = path;
        options.no_pc = no_pc;
        options.sections = [&part](const trace::Section& section) { part.add_section(section); };
        reading::Trace trace(options);
        const std::string copy = folder / "part.mmio";
        const FileDescriptor file = create_output(copy);
        part.begin(trace, file.get(), copy);
        reading::drive(trace, {&part});
        const Bytes bytes = contents(open_input(copy).get());
        check_sections(bytes, records.size() / 16384 + 1);
        CHECK(check(bytes).problems.empty());
        CHECK(read(bytes).size() == records.size());
        CHECK(same(read(bytes), records) == !no_pc);
    }
}

TEST_CASE("a ring that stopped while a group was written is not damaged, and tells what it lacks") {
    FakeArea memory(1, 16);
    const rings::Area area(memory.bytes());
    FakeCpu cpu(memory, 0);
    cpu.publish(group(access(0, 0, 10), 5 * 32));
    for (std::uint32_t i = 6; i < 16; ++i) {
        cpu.publish(access(0, i, 10 + i));
    }
    cpu.publish(std::span<const abi::Record>(group(access(0, 16, 100), 64)), false);
    const rings::LastAccesses last = rings::last_accesses(area, 100);
    CHECK(last.damaged == 0);
    CHECK(last.records.size() == 13);
    CHECK(last.broken == 1);
    memory.records(0)[9].commit = 0;
    CHECK(rings::last_accesses(area, 100).damaged == 1);
    CHECK(rings::last_accesses(area, 4).broken == 0);
}
