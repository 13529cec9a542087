// The inputs that `mmioscope run` accepts, and its messages about others before it starts anything.
#include "abi/chosen.hpp"
#include "abi/stack.hpp"
#include "run/board.hpp"
#include "run/early_requests.hpp"
#include "run/input.hpp"
#include "run/plan.hpp"
#include "run/process.hpp"
#include "run/trace_source.hpp"
#include "system/error.hpp"
#include "system/file_descriptor.hpp"
#include "system/signals.hpp"
#include "system/units.hpp"
#include "trees.hpp"
#include "wires.hpp"

#include <elf.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

using namespace mmioscope;
using namespace mmioscope::run;
using namespace mmioscope::test;
using Catch::Contains;

namespace {

/// A small tree in which the hypervisor has a UART of its own.
Bytes tree_with_serials() {
    Bytes tree(8192);
    REQUIRE(fdt_open_into(small_tree().data(), tree.data(), 8192) == 0);
    REQUIRE(fdt_setprop_string(tree.data(), fdt_path_offset(tree.data(), "/aliases"), "serial1",
                               "/bus/serial@a000") == 0);
    REQUIRE(fdt_pack(tree.data()) == 0);
    tree.resize(fdt_totalsize(tree.data()));
    return tree;
}

/// A folder of good inputs; tests spoil them one at a time.
class Inputs {
public:
    Inputs() {
        std::string name = std::filesystem::temp_directory_path() / "mmioscope test, XXXXXX";
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        folder_ = name;
        options.kernel = write("vmlinuz", zimage());
        options.tree = write("board.dtb", tree_with_serials());
        options.hypervisor = write("hyp.elf", elf());
        options.qemu = "/bin/true";
    }
    ~Inputs() { std::filesystem::remove_all(folder_); }

    static Bytes zimage() {
        Bytes kernel(256);
        const std::uint32_t head[3] = {0x016f'2818, 0, 256};
        std::memcpy(kernel.data() + 0x24, head, sizeof head);
        return kernel;
    }

    static Bytes elf() {
        Elf32_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS32;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_machine = EM_ARM;
        header.e_phoff = sizeof header;
        header.e_phentsize = sizeof(Elf32_Phdr);
        header.e_phnum = 1;
        Elf32_Phdr segment{};
        segment.p_type = PT_LOAD;
        segment.p_paddr = 0x8800'0000;
        segment.p_memsz = 4096;
        Bytes bytes(sizeof header + sizeof segment);
        std::memcpy(bytes.data(), &header, sizeof header);
        std::memcpy(bytes.data() + sizeof header, &segment, sizeof segment);
        return bytes;
    }

    std::string write(const std::string& name, const Bytes& bytes) const {
        const std::string path = folder_ / name;
        const FileDescriptor file = create_output(path);
        REQUIRE(::write(file.get(), bytes.data(), bytes.size()) ==
                static_cast<ssize_t>(bytes.size()));
        return path;
    }

    std::string pipe() const {
        const std::string path = folder_ / "pipe";
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
        return path;
    }

    std::string error() const {
        try {
            make_plan(options);
        } catch (const Error& error) {
            CHECK(error.status() == Status::bad_input);
            return error.what();
        }
        return "";
    }

    Options options;

private:
    std::filesystem::path folder_;
};

Bytes cut(Bytes bytes, std::size_t size) {
    bytes.resize(size);
    return bytes;
}

} // namespace

TEST_CASE("numbers and sizes") {
    CHECK(parse_number("4096") == 4096u);
    CHECK(parse_number("0x1C090000") == 0x1c09'0000u);
    CHECK(parse_size("64M") == 64u << 20);
    CHECK(parse_size("2g") == 2ull << 30);
    CHECK(parse_size("0x10k") == 0x10u << 10);
    for (const char* bad :
         {"", "M", "12q", "-1", " 1", "1 ", "0x", "99999999999999999999", "99999999999G"}) {
        CHECK(!parse_size(bad));
    }
}

TEST_CASE("good inputs make a plan, from a folder with a space and a comma") {
    Inputs inputs;
    CHECK(inputs.error().empty());
    CHECK(make_plan(inputs.options).board.name == "vexpress-a15");
}

TEST_CASE("the hypervisor is found beside the program, or else where it is installed") {
    const Folder folder;
    const std::filesystem::path bin = folder / "bin";
    const std::filesystem::path beside = bin / "hyp-48000000.elf";
    const std::filesystem::path installed = folder / "lib/mmioscope/hyp-48000000.elf";
    std::filesystem::create_directories(bin);
    std::filesystem::create_directories(installed.parent_path());
    CHECK_THROWS_WITH(
        find_hypervisor(bin, 0x4800'0000),
        Contains(fmt::format("{} or {}", bin.string(), installed.parent_path().string())));
    create_output(installed);
    CHECK(find_hypervisor(bin, 0x4800'0000) == installed);
    create_output(beside);
    CHECK(find_hypervisor(bin, 0x4800'0000) == beside);
}

TEST_CASE("bad inputs are refused in one line") {
    Inputs inputs;
    Options& o = inputs.options;
    SECTION("an output that is an input") {
        o.console_log = o.kernel;
        CHECK(inputs.error() == o.kernel + ": is also an input; choose another output");
    }
    SECTION("a log that cannot be read back") {
        o.console_log = "/dev/full";
        CHECK(inputs.error() ==
              "--console-log /dev/full: must be a regular file, because it is read back");
        o.console_log = inputs.pipe();
        CHECK(inputs.error().empty());
        o.console_log = "";
        o.hypervisor_log = "/dev/zero";
        CHECK(inputs.error() ==
              "--hyp-log /dev/zero: must be a regular file, because it is read back");
        o.hypervisor_log = "";
        o.access_log = "/dev/null"; // only QEMU uses it,
        CHECK(inputs.error().empty());
        o.reboots = 1; // unless it must be split
        CHECK(inputs.error() ==
              "--access-log /dev/null: must be a regular file, because it is read back");
    }
    SECTION("a stream that cannot be read back") {
        o.stream = "serial3";
        o.stream_file = "/dev/null";
        CHECK(inputs.error() ==
              "--stream-file /dev/null: must be a regular file, because it is read back");
        o.stream_beside = true; // nobody reads it
        CHECK_THAT(inputs.error(), !Contains("/dev/null"));
    }
    SECTION("no kernel") {
        o.kernel = "";
        CHECK(inputs.error() == "no kernel given (see --help)");
    }
    SECTION("missing kernel") {
        o.kernel = "/nowhere/vmlinuz";
        CHECK(inputs.error() == "cannot read /nowhere/vmlinuz: No such file or directory");
    }
    SECTION("a folder as kernel") {
        o.kernel = "/";
        CHECK(inputs.error() == "cannot read /: it is a folder");
    }
    SECTION("empty kernel") {
        inputs.write("vmlinuz", {});
        CHECK_THAT(inputs.error(), Contains("is empty"));
    }
    SECTION("truncated kernel") {
        inputs.write("vmlinuz", cut(Inputs::zimage(), 200));
        CHECK_THAT(inputs.error(), Contains("is truncated: 200 of 256 bytes"));
    }
    SECTION("not a zImage") {
        inputs.write("vmlinuz", Bytes(100));
        CHECK_THAT(inputs.error(), Contains("is not an ARM zImage"));
    }
    SECTION("a place for a kernel that is no bare program") {
        o.load_at = 0x8300'0000;
        CHECK(inputs.error() == "--load-at, --entry and --tree-at need --bare");
    }
    SECTION("a bare program where nothing is, or somebody else") {
        o.bare = true;
        for (const auto& [address, why] : {std::pair{0x7fff'ff80u, "is neither in the memory"},
                                           {0x8800'0000u, "overlaps the hypervisor"},
                                           {0x8bff'ffffu, "overlaps the hypervisor"},
                                           {0x87e0'0000u, "overlaps the guest's device tree"},
                                           {0xffff'ffffu, "is neither in the memory"}}) {
            o.load_at = address;
            CHECK_THAT(inputs.error(), Contains(why));
        }
    }
    SECTION("no device tree") {
        o.tree = "";
        CHECK(inputs.error() ==
              "no device tree given: vexpress-a15 needs --dtb vexpress-v2p-ca15-tc1.dtb, which is "
              "in the kernel's package (/usr/lib/linux-image-VERSION) or its build "
              "(arch/arm/boot/dts)");
    }
    SECTION("truncated device tree") {
        inputs.write("board.dtb", cut(small_tree(), 100));
        CHECK_THAT(inputs.error(), Contains("is truncated: 100 of"));
    }
    SECTION("something else as device tree") {
        inputs.write("board.dtb", Bytes(100));
        CHECK_THAT(inputs.error(), Contains("is not a flattened device tree"));
    }
    SECTION("damaged device tree") {
        Bytes tree = small_tree();
        std::fill(tree.begin() + 60, tree.begin() + 100, std::byte{0xff});
        inputs.write("board.dtb", tree);
        CHECK_THAT(inputs.error(), Contains("is a damaged device tree"));
    }
    SECTION("no UART for the hypervisor's messages") {
        inputs.write("board.dtb", small_tree());
        CHECK_THAT(inputs.error(), Contains("the device tree has no alias serial1"));
    }
    SECTION("missing ramdisk") {
        o.ramdisk = "/nowhere/initrd";
        CHECK_THAT(inputs.error(), Contains("cannot read /nowhere/initrd"));
    }
    SECTION("missing SD card image") {
        o.sd_image = "/nowhere/sd";
        CHECK_THAT(inputs.error(), Contains("cannot read /nowhere/sd"));
    }
    SECTION("unknown board") {
        o.board = "toaster";
        CHECK_THAT(inputs.error(),
                   Catch::StartsWith("unknown board 'toaster'; boards: vexpress-a15, "));
    }
    SECTION("too many CPUs") {
        o.cpus = 5;
        CHECK(inputs.error() == "--cpus 5: vexpress-a15 has 1 to 4 CPUs");
    }
    SECTION("too little memory") {
        o.memory = 128u << 20;
        CHECK_THAT(inputs.error(), Contains("too little memory") && Contains("need 208M"));
    }
    SECTION("too much memory") {
        o.memory = 4ull << 30;
        CHECK_THAT(inputs.error(), Contains("has at most 2048M"));
    }
    SECTION("a board whose memory is soldered") {
        o.board = "orangepi-pc";
        o.memory = 512u << 20;
        CHECK(inputs.error() == "--memory 512M: orangepi-pc has at least 1024M");
    }
    SECTION("odd memory") {
        o.memory = (512u << 20) + 1;
        CHECK_THAT(inputs.error(), Contains("must be a multiple of 1M"));
    }
    SECTION("too small a ring") {
        o.area_size = 64 * 1024;
        CHECK_THAT(inputs.error(), Contains("too small, 2 CPUs need at least 200K"));
    }
    SECTION("odd area") {
        o.area_size = (1u << 20) + 64;
        CHECK_THAT(inputs.error(), Contains("must be a multiple of 4096"));
    }
    SECTION("QEMU missing") {
        o.qemu = "qemu-system-nothing";
        CHECK_THAT(inputs.error(), Contains("not found") && Contains("qemu-system-arm"));
    }
    SECTION("QEMU not executable") {
        o.qemu = "/etc/passwd";
        CHECK_THAT(inputs.error(), Contains("cannot execute") && Contains("qemu-system-arm"));
    }
    SECTION("a kernel that reaches into the ramdisk") {
        o.bare = true;
        o.load_at = 0x83ff'ffff;
        o.ramdisk = inputs.write("initrd", Bytes(16));
        CHECK_THAT(inputs.error(), Contains("overlaps the ramdisk"));
    }
    SECTION("hypervisor missing") {
        o.hypervisor = "/nowhere/hyp.elf";
        CHECK_THAT(inputs.error(), Contains("cannot read /nowhere/hyp.elf"));
    }
    SECTION("hypervisor is not an ELF file") {
        inputs.write("hyp.elf", Bytes(100));
        CHECK_THAT(inputs.error(), Contains("is not a 32-bit little-endian ARM ELF file"));
    }
    SECTION("a hypervisor for another place") {
        o.at_top = true;
        CHECK_THAT(inputs.error(),
                   Contains("is not linked for 0x9b000000, where it must lie here"));
    }
    SECTION("an unknown device to deselect at the start") {
        o.at_start = {"deselect serial0", "deselect toaster"};
        CHECK_THAT(inputs.error(), Contains("--at-start 'deselect toaster': there is no device"));
    }
    SECTION("requests to an engine that takes none") {
        o.at_start = {"mark 1"};
        o.engine = "unprotect";
        CHECK(
            inputs.error() ==
            "--at-start and --engine unprotect exclude each other: this engine takes no commands");
    }
    if (!inputs.error().empty()) {
        CHECK_THAT(inputs.error(), !Contains("\n"));
    }
}

TEST_CASE("a bare program's entry and tree reach the hypervisor") {
    Inputs inputs;
    inputs.options.bare = true;
    CHECK(!make_plan(inputs.options).program.entry); // the kernel's first byte
    inputs.options.load_at = 0x8000'1000;
    inputs.options.tree_at = 0x8010'0000;
    CHECK(make_plan(inputs.options).program.entry == 0x8000'1000u);
    inputs.options.entry = 0x8000'1005; // in Thumb state
    const Plan plan = make_plan(inputs.options);
    CHECK(plan.program.load_at == 0x8000'1000u);
    CHECK(plan.program.entry == 0x8000'1005u);
    const auto property = [&plan](const char* name) {
        const void* tree = plan.tree.data();
        const void* value = fdt_getprop(tree, fdt_path_offset(tree, "/chosen"), name, nullptr);
        return value == nullptr ? 0 : fdt32_ld(static_cast<const fdt32_t*>(value));
    };
    CHECK(property(abi::chosen::entry) == 0x8000'1005);
    CHECK(property(abi::chosen::guest_tree) == 0x8010'0000);
    CHECK(fdt_node_offset_by_compatible(plan.tree.data(), -1, abi::chosen::kernel) < 0);
}

TEST_CASE("devices to trace are found in the tree") {
    const Bytes tree = small_tree();
    using Words = std::vector<std::string>;
    CHECK(select_devices({}, tree).empty());
    CHECK(select_devices({"all,!serial0", "none"}, tree) == Words{"all", "!serial0", "none"});
    CHECK(select_devices({"/bus/i2c@b000"}, tree) == Words{"/bus/i2c@b000"});
    CHECK(select_devices({"serial@a000"}, tree) == Words{"/bus/serial@a000"});
    CHECK(select_devices({"!0x9000+4K"}, tree) == Words{"!0x9000+0x1000"});
    CHECK(device_paths(tree) == Words{"/bus/serial@9000", "/bus/serial@a000", "/bus/i2c@b000"});
}

TEST_CASE("devices whose accesses have stacks are found in the tree") {
    const Bytes tree = small_tree();
    using Words = std::vector<std::string>;
    const StackChoice usual = choose_stacks("serial,i2c@b000", tree);
    CHECK(usual.size == abi::default_stack);
    CHECK(usual.devices == Words{"/bus/serial@9000", "/bus/serial@a000", "/bus/i2c@b000"});
    CHECK(choose_stacks("1K:serial0", tree).size == 1024);
    CHECK(choose_stacks("512:all", tree).devices == Words{"all"});
    for (const char* wrong : {"", "256:", "0:serial0", "3:serial0", "4K:serial0", "toaster"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(choose_stacks(wrong, tree), Error);
    }
}

TEST_CASE("an unknown device to trace is refused in one line, with a similar name") {
    const std::string list = " (all, none, BASE+SIZE or a device of the tree: see dtc -I dtb FILE, "
                             "or mmioscope info of a trace of this board)";
    const std::pair<const char*, const char*> tries[] = {
        {"toaster", ""},
        {"/bus/serial@9001", ", did you mean '/bus/serial@9000'?"},
        {"serail0", ", did you mean 'serial0'?"},
        {"i2c@b0000", ", did you mean 'i2c@b000'?"},
        {"0x9000+", ""},
        {"0x9000+0", ""},
        {"!", ""},
    };
    for (const auto& [word, near] : tries) {
        try {
            select_devices({word}, small_tree());
            FAIL(word);
        } catch (const Error& error) {
            CHECK(error.status() == Status::bad_input);
            CHECK(error.what() == fmt::format("--trace: there is no device '{}'{}{}",
                                              std::string_view(word) == "!" ? "" : word, near,
                                              list));
        }
    }
}

TEST_CASE("a process ends when it is asked to, or is killed") {
    using namespace std::chrono_literals;
    const FileDescriptor messages = memory_file("messages", 0);
    Process polite("/bin/sh", {"sh", "-c", "exec sleep 60"}, messages.get(), false);
    CHECK(!polite.poll());
    CHECK(polite.terminate(2s).text() == "signal 15 (Terminated)");
    Process stubborn("/bin/sh",
                     {"sh", "-c", "trap '' TERM; echo deaf >&2; while :; do sleep 0.1; done"},
                     messages.get(), false);
    while (::lseek(messages.get(), 0, SEEK_END) == 0) {
        std::this_thread::sleep_for(1ms);
    }
    CHECK(stubborn.terminate(200ms).signal == 9);
    Process failing("/bin/sh", {"sh", "-c", "exit 3"}, messages.get(), false);
    while (!failing.poll()) {
        std::this_thread::sleep_for(1ms);
    }
    CHECK(failing.poll()->text() == "exit status 3");
}

namespace {

/// No signal is ignored or blocked while it lives: whoever started the test, or an earlier test,
/// may have done that. Then all is as it was before, and children get what is usual.
class UsualSignals {
public:
    UsualSignals() {
        for (int number = 1; number < NSIG; ++number) {
            struct sigaction& before = before_[static_cast<std::size_t>(number)];
            if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) {
                std::signal(number, SIG_DFL);
            }
        }
        sigset_t none;
        ::sigemptyset(&none);
        ::pthread_sigmask(SIG_SETMASK, &none, &blocked_);
    }
    ~UsualSignals() {
        std::signal(SIGHUP, SIG_DFL);
        std::signal(SIGPIPE, SIG_DFL);
        note_signals();
        for (int number = 1; number < NSIG; ++number) {
            ::sigaction(number, &before_[static_cast<std::size_t>(number)], nullptr);
        }
        ::pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
    }
    UsualSignals(const UsualSignals&) = delete;
    UsualSignals& operator=(const UsualSignals&) = delete;

private:
    std::array<struct sigaction, NSIG> before_{};
    sigset_t blocked_{};
};

} // namespace

TEST_CASE("a child gets the signals that this program was started with") {
    using namespace std::chrono_literals;
    const UsualSignals usual;
    std::signal(SIGHUP, SIG_IGN); // as nohup does
    note_signals();
    std::signal(SIGPIPE, SIG_IGN); // for itself only
    const Signals blocked;
    const FileDescriptor messages = memory_file("messages", 0);
    // Signals 1 to 28: the C library lets nobody change 32 and 33, whoever has ignored them.
    Process child("/bin/sh",
                  {"sh", "-c", "sed -En 's/^(Sig(Ign|Blk)):.*(.{7})$/\\1 \\3/p' /proc/self/status"},
                  messages.get(), false);
    REQUIRE(child.wait(20s));
    CHECK(last_lines(messages.get(), 9) == "SigBlk 0000000\nSigIgn 0000001\n");
}

TEST_CASE("RAM in a file that the disk has no room for is refused") {
    const Folder folder;
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit few{1 << 20, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &few) == 0);
    std::string problem;
    try {
        const GuestMemory memory(find_board("vexpress-a15"), 64u << 20, folder / "ram");
    } catch (const Error& error) {
        problem = error.what();
    }
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, SIG_DFL);
    CHECK_THAT(problem, Catch::EndsWith(": File too large"));
    CHECK(!std::filesystem::exists(folder / "ram"));
    const GuestMemory memory(find_board("vexpress-a15"), 1u << 20, folder / "ram");
    struct stat status {};
    REQUIRE(::fstat(memory.fd(), &status) == 0);
    CHECK(status.st_blocks * 512 >= 1 << 20); // it is reserved
}

TEST_CASE("a wire on which QEMU sends without pause is passed on in pieces") {
    const Folder folder;
    const FileDescriptor stream = memory_file("stream", 0);
    ControlWire wire(folder / "ctl", stream.get());
    std::atomic<bool> over{false};
    std::thread qemu([&] {
        const std::vector<std::byte> block(1 << 16);
        while (!over) {
            (void)!::write(wire.for_qemu(), block.data(), block.size());
        }
    });
    off_t most = 0;
    for (off_t before = 0, now = 0; now < 64 << 20; before = now) {
        (void)wire.pass();
        now = ::lseek(stream.get(), 0, SEEK_END);
        most = std::max(most, now - before);
    }
    over = true;
    qemu.join();
    while (wire.pass()) {
    }
    CHECK(most <= 1 << 20);
}
