// `mmioscope record` with a real sender at the other end.
#include "abi/shared_wire.hpp"
#include "recorder_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

using namespace mmioscope;
using namespace mmioscope::test;

TEST_CASE("record: a file is read to its end") {
    const Folder folder;
    const Stream stream = Stream().records(0, 1000).end(1000);
    std::ofstream(folder / "s") << stream.text();
    Recorder recorder(folder, from(folder / "s"));
    CHECK(recorder.status() == 0);
    CHECK_THAT(recorder.said(), Catch::EndsWith(whole) && Catch::Contains("\nserial "));
    check_trace(folder / "t.mmio", some(0, 1000), abi::Ending::machine_off);
}

TEST_CASE("record: a self-test that hangs in its first check is not an empty stream") {
    const Folder folder;
    std::ofstream(folder / "s") << "doctor: clock: ";
    Recorder recorder(folder, from(folder / "s"));
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Catch::EndsWith("its report ends in the check 'clock'\n"));
}

TEST_CASE("record: a halt is an end, unless the guest goes on") {
    const Folder folder;
    Stream stream = Stream().records(0, 500).end(500, abi::StreamEnd::halted);
    SECTION("and stays halted") {
        std::ofstream(folder / "s") << stream.text();
        Recorder recorder(folder, from(folder / "s"));
        CHECK(recorder.status() == 0);
        check_trace(folder / "t.mmio", some(0, 500), abi::Ending::halted);
    }
    SECTION("and resets") {
        std::ofstream(folder / "s")
            << stream.records(500, 1000).end(1000, abi::StreamEnd::machine_reset).text();
        Recorder recorder(folder, from(folder / "s"));
        CHECK(recorder.status() == 0);
        check_trace(folder / "t.mmio", some(0, 1000), abi::Ending::machine_reset);
    }
    SECTION("and breaks off") {
        std::ofstream(folder / "s") << stream.records(500, 1000).text();
        Recorder recorder(folder, from(folder / "s"));
        CHECK(recorder.status() == 1);
        CHECK_THAT(recorder.said(), Catch::Contains("\nincomplete: 1000 events, 0 lost; the stream "
                                                    "has no end"));
    }
}

TEST_CASE("record: a stream without an end, after which the console says that the guest halted") {
    const auto [said, halted] = GENERATE(Catch::Generators::table<std::string, bool>({
        {"[    9.069314] reboot: System halted\r\n", true},
        {"[    9.069314] reboot: Power down\n", true},
        {"[    9.069314] reboot: System halted\r\n[   0.0] Booting Linux\r\n", false},
        {"# echo reboot: System halted, or not\r\n", false},
        {"", false},
    }));
    CAPTURE(said);
    const Folder folder;
    const Stream stream = Stream().records(0, 500);
    abi::shared_wire::Packer packer;
    std::ofstream wire(folder / "s");
    wire << "[    8.873693] Run /init as init process\r\n";
    for (const char byte : stream.text()) {
        packer.add(static_cast<std::uint8_t>(byte));
        for (; packer.any(); packer.taken()) {
            wire << static_cast<char>(packer.next());
        }
    }
    wire << said << std::flush;
    record::Options options = from(folder / "s");
    options.console = folder / "console";
    Recorder recorder(folder, options);
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Catch::Contains("\nincomplete: 500 events, 0 lost; the stream has "
                                                "no end"));
    CHECK((recorder.said().find("no end: the guest has halted, and on one CPU nothing tells the "
                                "hypervisor of that; what followed") != std::string::npos) ==
          halted);
}

TEST_CASE("record: each wire gives the same trace") {
    const Folder folder;
    const Stream stream = Stream().records(0, 1000).end(1000);
    const std::string path = folder / "w";
    SECTION("standard input") {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        const FileDescriptor read_end(ends[0]);
        FileDescriptor write_end(ends[1]);
        ::fcntl(write_end.get(), F_SETFD, FD_CLOEXEC);
        Recorder recorder(folder, from("-"), read_end.get());
        send_all(write_end.get(), stream.text());
        CHECK(recorder.status() == 0); // the machine's end ends it: the pipe is still open
    }
    SECTION("pty") {
        Pty pty;
        Recorder recorder(folder, from(pty.path));
        termios settings;
        do { // until it is raw
            ::tcgetattr(pty.master.get(), &settings);
        } while ((settings.c_lflag & ICANON) != 0);
        send_all(pty.master.get(), stream.text());
        CHECK(recorder.status() == 0);
    }
    SECTION("FIFO") {
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
        Recorder recorder(folder, from(path));
        send_all(FileDescriptor(::open(path.c_str(), O_WRONLY)).get(), stream.text());
        CHECK(recorder.status() == 0);
    }
    SECTION("unix, connecting") {
        const FileDescriptor listener = unix_listener(path);
        Recorder recorder(folder, from("unix:" + path));
        send_all(accepted(listener).get(), stream.text());
        CHECK(recorder.status() == 0);
    }
    SECTION("tcp, waiting") {
        Recorder recorder(folder, from("tcp:127.0.0.1:0,listen"));
        recorder.wait_for("listening on tcp:127.0.0.1:");
        recorder.wait_for("\n");
        const std::string said = recorder.said();
        const int port = std::atoi(said.c_str() + said.rfind(':') + 1);
        send_all(tcp_client(static_cast<std::uint16_t>(port)).get(), stream.text());
        CHECK(recorder.status() == 0);
    }
    check_trace(folder / "t.mmio", some(0, 1000), abi::Ending::machine_off);
}

TEST_CASE("record: Ctrl-C and SIGTERM leave a valid file") {
    const int number = GENERATE(SIGINT, SIGTERM, SIGHUP);
    const Folder folder;
    const Stream stream = Stream().records(0, 500);
    const FileDescriptor listener = unix_listener(folder / "w");
    Recorder recorder(folder, from("unix:" + (folder / "w")));
    const FileDescriptor sender = accepted(listener);
    send_all(sender.get(), stream.text());
    send(sender.get(), "\x20half a frame"); // it stalls here
    wait_for_records(folder / "t.mmio", 500);
    recorder.signal(number);
    CHECK(recorder.status() == 130);
    CHECK_THAT(recorder.said(),
               Catch::EndsWith("\ncomplete: 500 events, 0 lost; the recording was cut: "
                               "interrupted\n"));
    check_trace(folder / "t.mmio", some(0, 500), abi::Ending::interrupted);
}

TEST_CASE("record: Ctrl-C ends the wait for a sender that never comes, or never comes back") {
    const Folder folder;
    SECTION("never comes") {
        Recorder recorder(folder, from("unix:" + (folder / "w") + ",listen"));
        recorder.wait_for("listening");
        recorder.signal(SIGINT);
        CHECK(recorder.status() == 130);
        CHECK(!std::filesystem::exists(folder / "w"));
    }
    SECTION("never comes back") {
        FileDescriptor listener = unix_listener(folder / "w");
        Recorder recorder(folder, from("unix:" + (folder / "w")));
        accepted(listener);
        listener = FileDescriptor();
        recorder.wait_for("trying to open it again");
        recorder.signal(SIGINT);
        CHECK(recorder.status() == 130);
    }
    CHECK(read_trace(folder / "t.mmio").sound);
}

TEST_CASE("record: a broken connection costs the frame in transit, and no other") {
    const Folder folder;
    const Stream stream = Stream().records(0, 1000).end(1000);
    const FileDescriptor listener = unix_listener(folder / "w");
    Recorder recorder(folder, from("unix:" + (folder / "w")));
    const std::size_t cut = stream.edges[7];
    SECTION("between two frames") {
        send_all(accepted(listener).get(), stream.text().substr(0, cut));
        send_all(accepted(listener).get(), stream.text().substr(cut));
        CHECK(recorder.status() == 0);
        CHECK_THAT(recorder.said(), Catch::EndsWith(whole) && Catch::Contains("open again"));
        check_trace(folder / "t.mmio", some(0, 1000), abi::Ending::machine_off);
    }
    SECTION("in a frame") {
        send_all(accepted(listener).get(), stream.text().substr(0, cut + 30));
        send_all(accepted(listener).get(), stream.text().substr(stream.edges[8]));
        CHECK(recorder.status() == 1);
        CHECK_THAT(recorder.said(), Catch::EndsWith("incomplete: 950 events, 50 records lost (cpu "
                                                    "0: 50 from sequence 350)\n"));
        const Trace trace = read_trace(folder / "t.mmio");
        CHECK(trace.sound);
        CHECK(trace.losses == 50);
    }
}

TEST_CASE("record: --no-reconnect ends with the connection") {
    const Folder folder;
    const FileDescriptor listener = unix_listener(folder / "w");
    record::Options options = from("unix:" + (folder / "w"));
    options.reconnect = false;
    Recorder recorder(folder, options);
    send_all(accepted(listener).get(), Stream().records(0, 100).text());
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Catch::Contains("incomplete: 100 events, 0 lost; the stream has "
                                                "no end"));
    check_trace(folder / "t.mmio", some(0, 100), abi::Ending::stream_ended);
}

TEST_CASE("record: data that is not a stream gives no events") {
    const Folder folder;
    std::ofstream(folder / "s") << std::string(100'000, 'x') << '\0' << "nonsense" << '\0';
    Recorder recorder(folder, from(folder / "s"));
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(),
               Catch::Contains("0 events, 0 lost; the stream has no description of a boot"));
    CHECK(read_trace(folder / "t.mmio").sound);
}

TEST_CASE("record: a stream of a newer version is refused, what came before is kept") {
    const std::string refused =
        fmt::format("the stream has version {}; this program reads version {}",
                    abi::wire_version + 1, abi::wire_version);
    const Folder folder;
    std::vector<std::uint8_t> bytes;
    StreamMaker::append(
        bytes, abi::FrameHeader{abi::FrameType::records, abi::wire_version + 1, 0x101, 0x1010101});
    StreamMaker::append(bytes, crc(std::as_bytes(std::span(bytes))));
    std::string frame(1, static_cast<char>(bytes.size() + 1));
    frame.append(bytes.begin(), bytes.end());
    std::ofstream(folder / "s") << Stream().records(0, 100).text() << frame << '\0';
    record::Options options = from(folder / "s");
    options.plain = true;
    Recorder recorder(folder, options);
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Catch::EndsWith(refused + "\n"));
    check_trace(folder / "t.mmio", some(0, 100), abi::Ending::stream_ended);
    std::ifstream trace(folder / "t.mmio", std::ios::binary); // readers of the file say it, too
    const std::string text(std::istreambuf_iterator<char>(trace), {});
    CHECK_THAT(text, Catch::Contains("\nincomplete=" + refused));
}

TEST_CASE("record: what a terminal program did to a stream is said") {
    using Change = std::string (*)(const std::string&);
    const auto [change, said] = GENERATE(Catch::Generators::table<Change, std::string>({
        {[](const std::string& s) { return s; }, ""},
        {[](const std::string& s) {
             std::string out;
             for (const char c : s) {
                 out += c == '\n' ? "\r\n" : std::string(1, c);
             }
             return out;
         },
         "wrote CR LF"},
        {[](const std::string& s) {
             std::string out;
             for (const char c : s) {
                 out += c == '\r' ? '\n' : c;
             }
             return out;
         },
         "a terminal made LF of it"},
        {[](const std::string& s) {
             std::string out;
             std::ranges::copy_if(s, std::back_inserter(out),
                                  [](char c) { return c != 0x11 && c != 0x13; });
             return out;
         },
         "software flow control took them"},
        {[](const std::string& s) {
             std::string out;
             std::ranges::copy_if(s, std::back_inserter(out), [](char c) { return c != 0; });
             return out;
         },
         "leaves out zeros"},
        {[](const std::string& s) {
             std::string out = s;
             std::ranges::for_each(out, [](char& c) { c = static_cast<char>(c & 0x7f); });
             return out;
         },
         "the line carries 7 bits"},
        {[](const std::string& s) {
             std::string out;
             for (const char c : s) {
                 out += c == '\n' ? "\n[2026-11-28 03:48:12] " : std::string(1, c);
             }
             return out;
         },
         "a time stamp follows each line feed"},
        {[](const std::string& s) {
             std::string out;
             for (const char c : s) {
                 out += fmt::format("{:02x}{}", static_cast<unsigned char>(c),
                                    out.size() % 48 == 45 ? '\n' : ' ');
             }
             return out;
         },
         "this is a hex dump"},
        {[](const std::string& s) { // as xxd
             std::string out;
             for (std::size_t at = 0; at + 16 <= s.size(); at += 16) {
                 out += fmt::format("{:08x}:", at);
                 for (std::size_t i = 0; i < 16; ++i) {
                     out += fmt::format("{}{:02x}", i % 2 == 0 ? " " : "",
                                        static_cast<unsigned char>(s[at + i]));
                 }
                 out += "  a 12 .4..\n";
             }
             return out;
         },
         "this is a hex dump"},
        {[](const std::string& s) { // as xxd -p
             std::string out;
             for (const char c : s) {
                 out += fmt::format("{:02x}{}", static_cast<unsigned char>(c),
                                    out.size() % 61 == 58 ? "\n" : "");
             }
             return out;
         },
         "this is a hex dump"},
        {[](const std::string&) {
             return fmt::format("{:100}Linux version 6.1\r\n{:500}", "", "");
         },
         "this is text"},
        {[](const std::string&) { // a log that is mostly numbers
             std::string out;
             for (unsigned i = 0; i < 400; ++i) {
                 out += fmt::format("{} {:08x} {:08x} {}\r\n", i, i * 0x9e37'79b9u, i * 77, i % 7);
             }
             return out;
         },
         "this is text"},
        {[](const std::string&) { // numbers of one width
             std::string out;
             for (unsigned i = 0; i < 400; ++i) {
                 out += fmt::format("{:02} {:02} {:02} {:02} {:02} {:02}\r\n", i % 100, i % 7,
                                    i % 60, i % 24, i % 12, i % 31);
             }
             return out;
         },
         "this is text"},
    }));
    CAPTURE(said);
    const Folder folder;
    Stream stream;
    std::uint64_t random = 1; // many frames of values that nobody can predict
    for (std::uint32_t i = 0; i < 40; ++i) {
        std::vector<abi::Record> records = some(100 * i, 100 * i + 100);
        for (abi::Record& record : records) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            record.value = random >> 32;
        }
        stream.maker.records(records);
    }
    std::ofstream(folder / "s", std::ios::binary) << change(std::string(stream.end(4000).text()));
    Recorder recorder(folder, from(folder / "s"));
    CHECK((recorder.status() == 0) == said.empty());
    if (said.empty()) {
        CHECK_THAT(recorder.said(), !Catch::Contains("most of the stream is damaged"));
    } else {
        CHECK_THAT(recorder.said(), Catch::Contains("most of the stream is damaged: ") &&
                                        Catch::Contains(said) && Catch::Contains("stty raw"));
    }
}

TEST_CASE("record: what arrives twice counts once, and a cut behind an end shows in all verdicts") {
    const Folder folder;
    Stream stream = Stream().records(0, 1000);
    const std::string begun(stream.text());
    const std::string ended(stream.end(1000, abi::StreamEnd::halted).text());
    SECTION("captures that overlap") {
        std::ofstream(folder / "s") << begun.substr(0, begun.size() - 7) << ended;
        Recorder recorder(folder, from(folder / "s"));
        CHECK(recorder.status() == 0);
        CHECK_THAT(recorder.said(), Catch::Contains(" repeated\n") && Catch::EndsWith(whole));
        check_trace(folder / "t.mmio", some(0, 1000), abi::Ending::halted);
    }
    SECTION("a cut behind the end") {
        const std::string more(stream.records(1000, 1500).text());
        std::ofstream(folder / "s") << more.substr(0, ended.size() + 20);
        record::Options options = from(folder / "s");
        options.plain = true;
        Recorder recorder(folder, options);
        CHECK(recorder.status() == 1);
        CHECK_THAT(recorder.said(), Catch::Contains("\nincomplete: 1000 events, 0 lost; something "
                                                    "unreadable follows the stream's end"));
        std::ifstream trace(folder / "t.mmio", std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(trace), {});
        CHECK_THAT(text, Catch::Contains("\nincomplete=something unreadable follows"));
    }
}

TEST_CASE("record: a sender that stalls is cut by the time limit") {
    const Folder folder;
    const FileDescriptor listener = unix_listener(folder / "w");
    record::Options options = from("unix:" + (folder / "w"));
    options.time_limit = 0.3;
    Recorder recorder(folder, options);
    const FileDescriptor sender = accepted(listener);
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Catch::EndsWith("the recording was cut: time limit reached\n"));
}

TEST_CASE("record: a source that cannot be opened leaves the file alone") {
    const Folder folder;
    std::ofstream(folder / "t.mmio") << "an old trace";
    Recorder recorder(folder, from("unix:" + (folder / "nobody")));
    CHECK(recorder.status() == 2);
    CHECK(std::filesystem::file_size(folder / "t.mmio") == 12);
}
