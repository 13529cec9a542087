// What `mmioscope run` prints and writes of what the guest may choose or change.
#include "abi/layout.hpp"
#include "catch_2_or_3.hpp"
#include "fake_area.hpp"
#include "file/trace_reader.hpp"
#include "recorder_process.hpp"
#include "run/run_files.hpp"
#include "run/trace_source.hpp"
#include "system/open_source.hpp"
#include "tree/device_tree.hpp"
#include "tree_maker.hpp"
#include "view/live_printer.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <thread>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

std::string contents_of(int fd) {
    std::string text(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)), 0);
    REQUIRE(::pread(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    return text;
}

/// What `print` writes to the standard output or error `fd`.
std::string printed(int fd, const std::function<void()>& print) {
    const FileDescriptor file = memory_file("printed", 0);
    const FileDescriptor before(::dup(fd));
    std::fflush(stdout);
    ::dup2(file.get(), fd);
    print();
    std::fflush(stdout);
    ::dup2(before.get(), fd);
    return contents_of(file.get());
}

void write_all(int fd, std::string_view text) {
    REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

/// No byte that a terminal takes for a command, not even of the second kind (C1).
bool is_harmless(const std::string& text) {
    return std::ranges::none_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\n') || (byte >= 0x7f && byte < 0xa0);
    });
}

constexpr std::string_view hostile =
    "\x1b]0;PWNED\x07\x1b[2J\x1b[31mred \xe9 c1 \x85 over \x7f\b\b\r\n";

run::Plan plan_of_virt() {
    run::Plan plan{};
    plan.board = run::find_board("virt");
    return plan;
}

} // namespace

TEST_CASE("the guest's console, and what QEMU says, reach no terminal as commands") {
    const run::Plan plan = plan_of_virt();
    const run::RunFiles files(plan);
    for (const int fd :
         {files.console_log.get(), files.hypervisor_log.get(), files.messages.get()}) {
        write_all(fd, hostile);
    }
    const trace::Summary summary;
    const trace::LossCounter losses(1);
    const run::TraceResult result{summary, losses, {}, {}, 1, {}, {}, ""};
    run::Closing closing(plan, files);
    for (const abi::Ending ending : {abi::Ending::machine_off, abi::Ending::failed}) {
        const run::RunEnd stop{ending, "", std::string(hostile)};
        std::string said;
        const std::string end = printed(STDOUT_FILENO, [&] {
            said = printed(STDERR_FILENO, [&] { closing.end(stop, result, 0); });
        });
        const std::string none = printed(STDERR_FILENO, [&] { closing.not_started(stop); });
        for (const std::string& text : {end, said, none}) {
            CHECK_THAT(text, Catch::Contains("PWNED"));
            CHECK(is_harmless(text));
        }
    }
}

TEST_CASE("a log that QEMU could not write to its end is named") {
    const Folder folder;
    run::Plan plan = plan_of_virt();
    plan.options.console_log = folder / "console";
    plan.options.access_log = folder / "access";
    const run::RunFiles files(plan);
    constexpr off_t most = 1 << 20; // others of this program may be smaller
    REQUIRE(::ftruncate(files.access_log.get(), most) == 0);
    CHECK(files.whole(plan.options));
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit full{most, before.rlim_max};
    std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &full) == 0);
    bool whole = true;
    const std::string said = printed(STDERR_FILENO, [&] { whole = files.whole(plan.options); });
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, SIG_DFL);
    CHECK(!whole);
    CHECK(said == "mmioscope: cannot write " + plan.options.access_log +
                      ": File too large; its end may be missing\n");
    CHECK(contents_of(files.access_log.get()).size() == most);
}

TEST_CASE("a device tree that the guest writes meanwhile has the checksum of what is in the file") {
    FakeArea area(1, 16);
    run::Plan plan = plan_of_virt();
    plan.options.area_size = area.bytes().size();
    const run::GuestMemory memory(plan.board, 256u << 20, "");
    std::vector<std::byte> tree(80 << 10);
    {
        TreeMaker maker(tree);
        maker.node("", [&] { maker.numbers("changes", std::vector<std::uint32_t>(16 << 10)); });
        maker.finish(tree);
    }
    area.header().tree_base = plan.board.ram_base + 4096;
    area.header().tree_size = static_cast<std::uint32_t>(tree.size());
    const std::span<std::byte> shared = memory.at(area.header().tree_base, tree.size());
    std::ranges::copy(tree, shared.begin());
    std::ranges::copy(
        area.bytes(),
        memory.at(plan.board.hypervisor_base() + abi::area_offset, area.bytes().size()).begin());
    // The writer waits in the middle of the tree, behind its checksum, for whoever reads the pipe.
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const FileDescriptor from(ends[0]);
    FileDescriptor to(ends[1]);
    REQUIRE(::fcntl(to.get(), F_SETPIPE_SZ, 4096) >= 0);
    std::thread recorder([&] {
        trace::WriteProgress progress;
        trace::FileWriter writer(to.get(), progress);
        run::MemorySource source(plan, memory);
        source.begin(writer, {});
        source.finish(abi::Ending::machine_off);
        ::close(to.release());
    });
    std::string file(8192, 0);
    std::size_t size = 0;
    for (ssize_t got = 1; got > 0; size += static_cast<std::size_t>(got)) {
        if (size >= 8192) {
            shared[shared.size() - 20'000] = std::byte{1}; // the guest
        }
        file.resize(size + 8192);
        got = ::read(from.get(), file.data() + size, 8192);
        REQUIRE(got >= 0);
    }
    recorder.join();
    file.resize(size);
    MemorySource bytes(std::as_bytes(std::span(file)));
    std::vector<std::string> damage;
    trace::TraceReader reader(bytes, [&](const std::string& text) { damage.push_back(text); });
    CHECK(damage.empty());
    CHECK(std::ranges::equal(reader.tree(), tree));
}

TEST_CASE("an exception in the thread that prints does not end the recorder") {
    view::LivePrinter printer({});
    const auto file = std::make_shared<trace::FollowedFile>(memory_file("trace", 0));
    file->written.advance(10'000); // but somebody has truncated it
    const std::string said = printed(STDERR_FILENO, [&] {
        printer.follow(file);
        while (!printer.failed()) {
            std::this_thread::yield();
        }
    });
    CHECK_THAT(said, Catch::StartsWith("mmioscope: printing stopped: ") &&
                         Catch::Contains("reading the trace back failed"));
    printer.follow(file, true);
    CHECK(printer.finish() == 0);
}
