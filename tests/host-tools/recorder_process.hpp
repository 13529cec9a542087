// `mmioscope record` as a separate process, a stream for it, and what it recorded.
#pragma once

#include "catch_2_or_3.hpp"
#include "file/trace_reader.hpp"
#include "record/recording.hpp"
#include "records.hpp"
#include "stream_maker.hpp"
#include "system/byte_source.hpp"
#include "wires.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstring>
#include <fstream>
#include <thread>

namespace mmioscope::test {

using Records = std::vector<abi::Record>;
inline constexpr unsigned in_frame = 50;

inline Records some(std::uint32_t from, std::uint32_t to) {
    Records records;
    for (std::uint32_t i = from; i < to; ++i) {
        abi::Record record = access(0, i, 1000 + 10 * i);
        record.commit = i + 1;
        record.device = 0;
        records.push_back(record);
    }
    return records;
}

/// The bytes of a stream, and the offsets of its frames.
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
    Stream& end(std::uint32_t count, abi::StreamEnd reason = abi::StreamEnd::machine_off,
                const std::vector<abi::UnfinishedAccess>& unfinished = {}) {
        edges.push_back(maker.wire().size());
        maker.end(count, 0, reason, unfinished);
        return *this;
    }
    std::string_view text() const {
        return {reinterpret_cast<const char*>(maker.wire().data()), maker.wire().size()};
    }
    StreamMaker maker;
    std::vector<std::size_t> edges;
};

/// A recording process; killed if it still runs when the test ends.
class Recorder {
public:
    /// `output`: its standard output; -1: what said() returns.
    explicit Recorder(const Folder& folder, record::Options options, int input = -1,
                      int output = -1)
        : said_(folder / "said") {
        if (options.output.empty()) {
            options.output = folder / "t.mmio";
        }
        process_ = ::fork();
        if (process_ == 0) {
            run(options, input, output);
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

    /// Its output so far, from both descriptors.
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
    [[noreturn]] void run(const record::Options& options, int input, int output) const {
        const FileDescriptor out(::open(said_.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600));
        ::dup2(input, STDIN_FILENO);
        ::dup2(output < 0 ? out.get() : output, STDOUT_FILENO);
        ::dup2(out.get(), STDERR_FILENO);
        ::signal(SIGPIPE, SIG_IGN);
        ::signal(SIGTERM, SIG_DFL); // Catch's own handler would report a failed test
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

inline Trace read_trace(const std::string& path) {
    Trace trace;
    const FileDescriptor file = open_input(path);
    FileSource source(file.get());
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
inline void wait_for_records(const std::string& path, std::size_t count) {
    for (int i = 0; i < 1000; ++i) {
        // At first the file exists, but is empty.
        if (std::filesystem::exists(path) && std::filesystem::file_size(path) > 0 &&
            read_trace(path).records.size() >= count) {
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

inline void check_trace(const std::string& path, const Records& sent, abi::Ending ending) {
    const Trace trace = read_trace(path);
    CHECK(trace.sound);
    REQUIRE(trace.records.size() == sent.size());
    CHECK(std::memcmp(trace.records.data(), sent.data(), sent.size() * sizeof sent[0]) == 0);
    CHECK((trace.end ? trace.end->ending : abi::Ending::failed) == ending);
}

inline record::Options from(const std::string& source) {
    record::Options options;
    options.source = source;
    return options;
}

/// Sends in odd pieces; the reader may be slow.
inline void send_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const std::size_t n = std::min<std::size_t>(text.size(), 777);
        pollfd wait{fd, POLLOUT, 0};
        REQUIRE(::poll(&wait, 1, 10'000) == 1);
        send(fd, text.substr(0, n));
        text.remove_prefix(n);
    }
}

inline constexpr char whole[] = "complete: 1000 events, 0 lost\n";

} // namespace mmioscope::test
