// `mmioscope record` as a process of its own, with a real sender at the other end.
#include "lib/byte_source.hpp"
#include "lib/part_path.hpp"
#include "lib/trace_reader.hpp"
#include "record/session.hpp"
#include "records.hpp"
#include "stream_maker.hpp"
#include "wires.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

using Records = std::vector<abi::Record>;
constexpr unsigned in_frame = 50;

Records some(std::uint32_t from, std::uint32_t to) {
    Records records;
    for (std::uint32_t i = from; i < to; ++i) {
        abi::Record record = access(0, i, 1000 + 10 * i);
        record.commit = i + 1;
        record.device = 0;
        records.push_back(record);
    }
    return records;
}

/// The bytes of a stream, and where its frames begin.
struct Stream {
    explicit Stream(std::uint32_t boot = 7) : maker(boot) {
        maker.hello({{0x1c09'0000, 0x1000, 0, abi::region_traced, 0, 7, 0}}, "/serial");
    }
    Stream& records(std::uint32_t from, std::uint32_t to) {
        for (; from < to; from += in_frame) {
            edges.push_back(maker.wire().size());
            maker.records(some(from, std::min(from + in_frame, to)));
        }
        return *this;
    }
    Stream& end(std::uint32_t count) {
        edges.push_back(maker.wire().size());
        maker.end(count, 0);
        return *this;
    }
    std::string_view text() const {
        return {reinterpret_cast<const char*>(maker.wire().data()), maker.wire().size()};
    }
    StreamMaker maker;
    std::vector<std::size_t> edges;
};

/// A process that records; killed if it still runs when the test is over.
class Recorder {
public:
    explicit Recorder(const Folder& folder, record::Options options, int input = -1)
        : said_(folder / "said") {
        if (options.output.empty()) {
            options.output = folder / "t.mmio";
        }
        process_ = ::fork();
        if (process_ == 0) {
            run(options, input);
        }
    }
    ~Recorder() {
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
            ::waitpid(process_, nullptr, 0);
        }
    }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void signal(int number) const { ::kill(process_, number); }

    /// Waits at most 20 seconds for its end. Returns its exit status; -1 if it does not end.
    int status() {
        for (int i = 0; i < 2000; ++i) {
            int status = 0;
            if (::waitpid(process_, &status, WNOHANG) == process_) {
                process_ = -1;
                return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return -1;
    }

    /// What it said so far, on both outputs.
    std::string said() const {
        std::ifstream file(said_);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    void wait_for(const std::string& words) const {
        for (int i = 0; i < 1000 && said().find(words) == std::string::npos; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }

private:
    [[noreturn]] void run(const record::Options& options, int input) const {
        const FileDescriptor out(::open(said_.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600));
        ::dup2(input, STDIN_FILENO);
        ::dup2(out.get(), STDOUT_FILENO);
        ::dup2(out.get(), STDERR_FILENO);
        ::signal(SIGPIPE, SIG_IGN);
        ::signal(SIGTERM, SIG_DFL); // Catch's own would report a failed test
        ::signal(SIGINT, SIG_DFL);
        try {
            ::_exit(static_cast<int>(record::record_stream(options)));
        } catch (const Error& error) {
            fmt::print("{}\n", error.what());
            std::fflush(stdout);
            ::_exit(static_cast<int>(error.status()));
        }
    }

    std::string said_;
    pid_t process_;
};

struct Trace {
    Records records;
    std::optional<abi::End> end;
    bool sound = false;
    std::uint64_t losses = 0;
};

Trace read_trace(const std::string& path) {
    Trace trace;
    const FileDescriptor file = open_input(path);
    trace::FileSource source(file.get());
    trace::TraceReader reader(source, [](const std::string&) {});
    for (auto records = reader.next(); !records.empty(); records = reader.next()) {
        trace.records.insert(trace.records.end(), records.begin(), records.end());
    }
    for (const abi::Loss& loss : reader.losses()) {
        trace.losses += loss.count;
    }
    trace.end = reader.end();
    trace.sound = reader.sound();
    return trace;
}

/// Waits at most 10 seconds, also for the file.
void wait_for_records(const std::string& path, std::size_t count) {
    for (int i = 0; i < 1000; ++i) {
        // At first the file is there, and nothing in it.
        if (std::filesystem::exists(path) && std::filesystem::file_size(path) > 0 &&
            read_trace(path).records.size() >= count) {
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

void check_trace(const std::string& path, const Records& sent, abi::Ending ending) {
    const Trace trace = read_trace(path);
    CHECK(trace.sound);
    REQUIRE(trace.records.size() == sent.size());
    CHECK(std::memcmp(trace.records.data(), sent.data(), sent.size() * sizeof sent[0]) == 0);
    CHECK((trace.end ? trace.end->ending : abi::Ending::failed) == ending);
}

record::Options from(const std::string& source) {
    record::Options options;
    options.source = source;
    return options;
}

/// Sends in odd pieces; the reader's end may be slow.
void send_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const std::size_t n = std::min<std::size_t>(text.size(), 777);
        pollfd wait{fd, POLLOUT, 0};
        REQUIRE(::poll(&wait, 1, 10'000) == 1);
        send(fd, text.substr(0, n));
        text.remove_prefix(n);
    }
}

constexpr char whole[] = "complete: 1000 events, 0 lost\n";

} // namespace

TEST_CASE("record: a file, to its end") {
    const Folder folder;
    const Stream stream = Stream().records(0, 1000).end(1000);
    std::ofstream(folder / "s") << stream.text();
    Recorder recorder(folder, from(folder / "s"));
    CHECK(recorder.status() == 0);
    CHECK_THAT(recorder.said(), Catch::EndsWith(whole) && Catch::Contains("\nserial "));
    check_trace(folder / "t.mmio", some(0, 1000), abi::Ending::machine_off);
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
        CHECK(recorder.status() == 0); // the machine's end is the end: the pipe is still open
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
    send(sender.get(), "\x20half a frame"); // and there it stalls
    wait_for_records(folder / "t.mmio", 500);
    recorder.signal(number);
    CHECK(recorder.status() == 130);
    CHECK_THAT(recorder.said(), Catch::EndsWith("incomplete: 500 events, 0 lost; interrupted\n"));
    check_trace(folder / "t.mmio", some(0, 500), abi::Ending::interrupted);
}

TEST_CASE("record: Ctrl-C ends the waiting for a sender that never comes, or never comes back") {
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
        recorder.wait_for("opening it again");
        recorder.signal(SIGINT);
        CHECK(recorder.status() == 130);
    }
    CHECK(read_trace(folder / "t.mmio").sound);
}

TEST_CASE("record: a broken connection costs the frame that was on its way, and no other") {
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
        CHECK_THAT(recorder.said(), Catch::EndsWith("incomplete: 950 events, 50 lost (cpu 0: 50 "
                                                    "from sequence 350)\n"));
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

TEST_CASE("record: what is no stream is no trace") {
    const Folder folder;
    std::ofstream(folder / "s") << std::string(100'000, 'x') << '\0' << "nonsense" << '\0';
    Recorder recorder(folder, from(folder / "s"));
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Catch::Contains("0 events, 0 lost; no description of a boot"));
    CHECK(read_trace(folder / "t.mmio").sound);
}

TEST_CASE("record: a stream of a newer version is refused, what came before is kept") {
    const Folder folder;
    std::vector<std::uint8_t> bytes;
    StreamMaker::append(
        bytes, abi::FrameHeader{abi::FrameType::records, abi::wire_version + 1, 0x101, 0x1010101});
    StreamMaker::append(bytes, trace::crc(std::as_bytes(std::span(bytes))));
    std::string frame(1, static_cast<char>(bytes.size() + 1));
    frame.append(bytes.begin(), bytes.end());
    std::ofstream(folder / "s") << Stream().records(0, 100).text() << frame << '\0';
    Recorder recorder(folder, from(folder / "s"));
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Catch::EndsWith("this program reads up to 1\n"));
    check_trace(folder / "t.mmio", some(0, 100), abi::Ending::failed);
}

TEST_CASE("record: a sender that stalls is cut by the time limit") {
    const Folder folder;
    const FileDescriptor listener = unix_listener(folder / "w");
    record::Options options = from("unix:" + (folder / "w"));
    options.time_limit = 0.3;
    Recorder recorder(folder, options);
    const FileDescriptor sender = accepted(listener);
    CHECK(recorder.status() == 1);
    CHECK_THAT(recorder.said(), Catch::EndsWith("the time limit of 0.3 s was reached\n"));
}

TEST_CASE("record: a source that cannot be opened leaves the file alone") {
    const Folder folder;
    std::ofstream(folder / "t.mmio") << "an old trace";
    Recorder recorder(folder, from("unix:" + (folder / "nobody")));
    CHECK(recorder.status() == 2);
    CHECK(std::filesystem::file_size(folder / "t.mmio") == 12);
}

TEST_CASE("record: files by size, each whole by itself") {
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
    CHECK_THAT(said, Catch::EndsWith("incomplete: 39900 events, 100 lost (cpu 0: 100 from sequence "
                                     "10000)\n") &&
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
    CHECK(std::filesystem::file_size(folder / "t.2.mmio") < record::min_rotate + 4096);
}

TEST_CASE("record: each boot has a file of its own") {
    const Folder folder;
    const Stream first = Stream(1).records(0, 100).end(100);
    const Stream second = Stream(2).records(0, 50); // switched off by its plug
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
