// `mmioscope record`: the files of a recording.
#include "file/trace_check.hpp"
#include "recorder_process.hpp"
#include "system/open_source.hpp"
#include "system/replaced_file.hpp"
#include "trees.hpp"

#include <libfdt.h>

using namespace mmioscope;
using namespace mmioscope::test;

TEST_CASE("record: its verdict, and that of the file, tell lost events from other lost records") {
    const Folder folder;
    std::vector<abi::Record> second = some(100, 200);
    for (std::size_t i = 0; i < 30; ++i) {
        second[i * 3].type = abi::RecordType::marker;
    }
    Stream stream;
    stream.maker.records(some(0, 100));
    const std::size_t cut = stream.maker.wire().size();
    stream.maker.records(second);
    const std::size_t after = stream.maker.wire().size();
    stream.maker.records(some(200, 300));
    stream.maker.end(300, 0, abi::StreamEnd::machine_off, {}, {30, 0});
    const std::string all(stream.text());
    const bool whole = GENERATE(true, false);
    std::ofstream(folder / "s") << all.substr(0, whole ? after : cut) << all.substr(after);
    Recorder recorder(folder, from(folder / "s"));
    CHECK(recorder.status() == (whole ? 0 : 1));
    CHECK_THAT(recorder.said(),
               Catch::EndsWith(whole ? "\ncomplete: 270 events, 0 lost\n"
                                     : "\nincomplete: 200 events, 70 lost, 30 other records lost "
                                       "(cpu 0: 100 from sequence 100)\n"));
    CHECK(text_of(trace::check_trace(*open_source(folder / "t.mmio")).lost) ==
          (whole ? "0 lost" : "70 lost, 30 other records lost"));
}

TEST_CASE("record: files split by size are each complete") {
    const Folder folder;
    constexpr std::uint32_t count = 40'000;
    const Stream stream = Stream().records(0, 10'000).records(10'100, count).end(count);
    std::ofstream(folder / "s") << stream.text();
    record::Options options = from(folder / "s");
    options.rotate = record::min_rotate;
    options.follow = true;
    Recorder recorder(folder, options);
    CHECK(recorder.status() == 1);
    const std::string said = recorder.said();
    CHECK_THAT(said, Catch::EndsWith("incomplete: 39900 events, 100 records lost (cpu 0: 100 from "
                                     "sequence 10000)\n") &&
                         Catch::Contains("t.3.mmio, 3 files"));
    const Trace parts[] = {read_trace(folder / "t.mmio"), read_trace(folder / "t.2.mmio"),
                           read_trace(folder / "t.3.mmio")};
    std::uint32_t next = 0;
    for (const Trace& part : parts) {
        CHECK(part.sound);
        for (const abi::Record& record : part.records) {
            next += record.cpu_sequence == (next < 10'000 ? next : next + 100) ? 1 : 1'000'000;
        }
    }
    CHECK(next == count - 100);
    CHECK(parts[0].losses == 100);
    CHECK(parts[1].losses + parts[2].losses == 0);
    CHECK(parts[0].end->ending == abi::Ending::continued);
    CHECK(parts[2].end->ending == abi::Ending::machine_off);
    CHECK(std::filesystem::file_size(folder / "t.2.mmio") < record::min_rotate / 8); // packed
}

TEST_CASE("record: files that are to stay plain do, and have the same content") {
    const Folder folder;
    std::ofstream(folder / "wire") << Stream().records(0, 40'000).end(40'000).text();
    record::Options options = from(folder / "wire");
    REQUIRE(Recorder(folder, options).status() == 0);
    options.rotate = record::min_rotate;
    options.plain = true;
    options.output = folder / "plain.mmio";
    REQUIRE(Recorder(folder, options).status() == 0);
    const Trace packed = read_trace(folder / "t.mmio");
    CHECK(packed.sound);
    CHECK(packed.records.size() == 40'000);
    std::size_t next = 0;
    for (const char* name : {"plain.mmio", "plain.2.mmio", "plain.3.mmio"}) {
        CHECK(std::filesystem::file_size(folder / name) < record::min_rotate + 4096);
        const Trace plain = read_trace(folder / name);
        CHECK(plain.sound);
        REQUIRE(next + plain.records.size() <= packed.records.size());
        CHECK(std::memcmp(plain.records.data(), packed.records.data() + next,
                          plain.records.size() * sizeof(abi::Record)) == 0);
        next += plain.records.size();
    }
    CHECK(next == 40'000);
    CHECK(std::filesystem::file_size(folder / "plain.2.mmio") > record::min_rotate / 2);
    CHECK(std::filesystem::file_size(folder / "t.mmio") < 40'000 * 8);
}

TEST_CASE("record: a trace as the source is refused, and no file is made") {
    const Folder folder;
    std::ofstream(folder / "wire") << Stream().records(0, 100).end(100).text();
    Recorder first(folder, from(folder / "wire"));
    REQUIRE(first.status() == 0);
    record::Options options = from(folder / "t.mmio");
    options.output = folder / "again.mmio";
    for (const char* source : {"", "-"}) {
        options.source = *source == 0 ? folder / "t.mmio" : source;
        const FileDescriptor input = open_input(folder / "t.mmio");
        Recorder recorder(folder, options, input.get());
        CHECK(recorder.status() == 2);
        CHECK_THAT(
            recorder.said(),
            Catch::EndsWith(": this is a trace, not a stream; read it with `mmioscope print`\n"));
        CHECK(!std::filesystem::exists(folder / "again.mmio"));
    }
    // Inspecting a stream on standard input loses no bytes.
    const FileDescriptor input = open_input(folder / "wire");
    options.source = "-";
    Recorder recorder(folder, options, input.get());
    CHECK(recorder.status() == 0);
    CHECK(read_trace(folder / "again.mmio").records.size() == 100);
}

TEST_CASE("record: a later file that is the source ends the recording and stays as it is") {
    const Folder folder;
    constexpr std::uint32_t count = 40'000;
    const Stream wire = Stream().records(0, count).end(count);
    std::ofstream(folder / "t.2.mmio") << wire.text();
    record::Options options = from(folder / "t.2.mmio");
    options.rotate = record::min_rotate;
    Recorder recorder(folder, options);
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Catch::Contains("t.2.mmio: is also an input"));
    CHECK(std::filesystem::file_size(folder / "t.2.mmio") == wire.text().size());
    CHECK(read_trace(folder / "t.mmio").sound);
}

TEST_CASE("record: a device tree as large as a file leaves room for records") {
    const Folder folder;
    run::Bytes tree = small_tree();
    tree.resize(record::min_rotate + 4096);
    REQUIRE(fdt_open_into(tree.data(), tree.data(), static_cast<int>(tree.size())) == 0);
    append(create_output(folder / "dtb").get(), tree, "a test's file");
    constexpr std::uint32_t count = 10'000;
    std::ofstream(folder / "s") << Stream().records(0, count).end(count).text();
    record::Options options = from(folder / "s");
    options.rotate = record::min_rotate;
    options.tree = folder / "dtb";
    Recorder recorder(folder, options);
    CHECK(recorder.status() == 0);
    const std::size_t first = read_trace(folder / "t.mmio").records.size();
    CHECK(first * sizeof(abi::Record) > record::min_rotate / 4);
    CHECK(first + read_trace(folder / "t.2.mmio").records.size() == count);
}

TEST_CASE("record: each boot has a file of its own") {
    const Folder folder;
    const Stream first = Stream(1).records(0, 100).end(100);
    const Stream second = Stream(2).records(0, 50); // unplugged
    const Stream third = Stream(3).records(0, 200).end(200);
    std::ofstream(folder / "s") << first.text() << second.text() << third.text();
    Recorder recorder(folder, from(folder / "s"));
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Catch::EndsWith("complete: 200 events, 0 lost\n"
                                                "incomplete: 3 boots, 1 of them incomplete\n"));
    check_trace(folder / "t.mmio", some(0, 100), abi::Ending::machine_off);
    check_trace(folder / "t.2.mmio", some(0, 50), abi::Ending::stream_ended);
    check_trace(folder / "t.3.mmio", some(0, 200), abi::Ending::machine_off);
}

TEST_CASE("record: with --forever a machine that is off may come back") {
    const Folder folder;
    const FileDescriptor listener = unix_listener(folder / "w");
    record::Options options = from("unix:" + (folder / "w"));
    options.forever = true;
    Recorder recorder(folder, options);
    send_all(accepted(listener).get(), Stream(1).records(0, 100).end(100).text());
    send_all(accepted(listener).get(), Stream(2).records(0, 200).end(200).text());
    recorder.wait_for("next boot");
    wait_for_records(folder / "t.2.mmio", 200);
    recorder.signal(SIGTERM);
    CHECK(recorder.status() == 130);
    CHECK_THAT(recorder.said(), Catch::EndsWith("complete: 2 boots, 0 of them incomplete\n"));
    check_trace(folder / "t.2.mmio", some(0, 200), abi::Ending::machine_off);
}

TEST_CASE("record: the names of files that follow") {
    CHECK(part_path("a/b.mmio", 1) == "a/b.mmio");
    CHECK(part_path("a.d/b.mmio", 2) == "a.d/b.2.mmio");
    CHECK(part_path("boot", 12) == "boot.12");
}
