#include "run/run_files.hpp"

#include "records/record_text.hpp"
#include "records/verdict.hpp"
#include "system/message.hpp"
#include "tree/device_names.hpp"
#include "view/short_tables.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mmioscope::run {

namespace {

FileDescriptor named_or_memory(const std::string& path, const char* label) {
    return path.empty() ? memory_file(label, 0) : create_output(path);
}

FileDescriptor stream_file(const Options& options) {
    if (options.stream.empty()) {
        return {};
    }
    return options.stream_file.empty() ? temporary_file() : create_output(options.stream_file);
}

void write_all(int fd, const Bytes& bytes) {
    if (::pwrite(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        throw failure("cannot write to memory: {}", std::strerror(errno));
    }
}

// QEMU does not say that its disk was full. If not, errno is why.
bool can_grow(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return true;
    }
    const char byte = 0;
    return ::pwrite(fd, &byte, 1, status.st_size) == 1 && ::ftruncate(fd, status.st_size) == 0;
}

} // namespace

// If nobody reads the trace back, it is only counted.
FileDescriptor trace_file(const Options& options, unsigned boot) {
    if (!options.output.empty()) {
        return create_output(part_path(options.output, boot));
    }
    return prints(options) ? temporary_file() : create_output("/dev/null");
}

RunFiles::RunFiles(const Plan& plan)
    : tree(memory_file("device-tree", 0)),
      boot_image(plan.boot_image.empty() ? FileDescriptor() : memory_file("boot-image", 0)),
      trace(trace_file(plan.options, 1)),
      console_log(named_or_memory(plan.options.console_log, "console")),
      hypervisor_log(named_or_memory(plan.options.hypervisor_log, "hypervisor")),
      stream(stream_file(plan.options)),
      unshared(plan.options.stream_shared ? temporary_file() : FileDescriptor()),
      access_log(plan.options.access_log.empty() ? FileDescriptor()
                                                 : create_output(plan.options.access_log)),
      messages(memory_file("messages", 0)) {
    write_all(tree.get(), plan.tree);
    if (boot_image) {
        write_all(boot_image.get(), plan.boot_image);
    }
    inherit_all();
}

QemuFiles RunFiles::for_qemu(int ram, int monitor) const {
    return {ram,
            tree.get(),
            boot_image ? boot_image.get() : -1,
            console_log.get(),
            hypervisor_log.get(),
            stream ? stream.get() : -1,
            access_log ? access_log.get() : -1,
            monitor};
}

bool RunFiles::whole(const Options& options) const {
    bool all = true;
    const auto check = [&all](const FileDescriptor& file, const std::string& path) {
        if (file && !can_grow(file.get())) {
            all = false;
            print_message("mmioscope: cannot write {}: {}; its end may be missing\n",
                          path.empty() ? "a temporary file" : for_terminal(path),
                          std::strerror(errno));
        }
    };
    check(console_log, options.console_log);
    check(hypervisor_log, options.hypervisor_log);
    check(stream, options.stream_file);
    check(access_log, options.access_log);
    return all;
}

// QEMU opens them again by descriptor, so no name has to be passed on or quoted.
void RunFiles::inherit_all() const {
    for (const FileDescriptor* file : {&console_log, &hypervisor_log, &stream, &access_log}) {
        if (*file) {
            ::fcntl(file->get(), F_SETFD, 0);
        }
    }
}

namespace {

std::uint64_t size_of(int fd) {
    struct stat status {};
    ::fstat(fd, &status);
    return static_cast<std::uint64_t>(status.st_size);
}

void copy(int from, std::uint64_t begin, std::uint64_t end, const std::string& path) {
    ReplacedFile to(path);
    for (auto at = static_cast<off_t>(begin); at < static_cast<off_t>(end);) {
        const auto rest = static_cast<std::size_t>(static_cast<off_t>(end) - at);
        if (::sendfile(to.fd(), from, &at, rest) <= 0) {
            throw failure("cannot write {}: {}", path, std::strerror(errno));
        }
    }
    to.commit();
}

} // namespace

void AccessLogs::end_boot() {
    if (fd_ >= 0) {
        ends_.push_back(size_of(fd_));
    }
}

void AccessLogs::split() const {
    for (std::size_t i = 0; i < ends_.size(); ++i) {
        const std::uint64_t end = i + 1 < ends_.size() ? ends_[i + 1] : size_of(fd_);
        copy(fd_, ends_[i], end, part_path(path_, static_cast<unsigned>(i) + 2));
    }
    if (!ends_.empty() && ::ftruncate(fd_, static_cast<off_t>(ends_[0])) != 0) {
        throw failure("cannot shorten {}: {}", path_, std::strerror(errno));
    }
}

namespace {

constexpr std::size_t log_lines = 15;

// For a terminal: what the guest or QEMU printed may have any bytes.
std::string log_end(const char* what, const FileDescriptor& file) {
    const std::string text = last_lines(file.get(), log_lines);
    return text.empty() ? "" : fmt::format("{}, last lines:\n{}", what, lines_for_terminal(text));
}

bool console_has(const std::string& expected, const RunFiles& files) {
    return expected.empty() || log_has(files.console_log.get(), expected);
}

std::string why_incomplete(const Plan& plan, const RunEnd& stop, const TraceResult& result,
                           const RunFiles& files) {
    if (!stop.why.empty() && !trace::is_cut(stop.ending)) {
        return result.doubts.starts_with(stop.why) ? result.doubts : stop.why;
    }
    if (!result.doubts.empty()) {
        return result.doubts;
    }
    if (!trace::is_cut(stop.ending) && !console_has(plan.options.expect, files)) {
        return fmt::format("the guest's console did not contain '{}'", plan.options.expect);
    }
    return std::string(trace::engine_caveat(result.engine));
}

} // namespace

bool prints(const Options& options) {
    return options.print.value_or(!options.console);
}

bool shows_progress(const Options& options) {
    return !options.console && !(prints(options) && ::isatty(STDOUT_FILENO) != 0);
}

void Closing::print_tables(const TraceResult& result) const {
    const tree::DeviceNames names(result.regions, plan_.tree);
    const trace::ReportContext context{&names, result.summary.start().value_or(0),
                                       result.counter_frequency};
    print_output(
        "{}{}",
        view::fitted_text(trace::device_table(result.summary, context),
                          tree::short_names(names, result.regions, plan_.tree),
                          plan_.options.live.look.width),
        trace::other_counts(result.summary, result.statistics, plan_.options.live.verbose));
    if (result.stream_bytes > 0) {
        const auto events =
            static_cast<double>(std::max<std::uint64_t>(result.summary.events(), 1));
        print_output("stream: {} bytes, {:.2f} an event\n", result.stream_bytes,
                     static_cast<double>(result.stream_bytes) / events);
    }
}

// A run of one boot does not name it.
void Closing::print_verdict(const TraceResult& result, const std::string& why, abi::Ending ending) {
    ++boots_;
    incomplete_ += !why.empty() || result.losses.lost() > 0 ? 1 : 0;
    const bool alone = plan_.options.reboots == 0;
    print_output("{}\n{}{}\n", result.summary.policies().line(result.policy),
                 alone ? "" : fmt::format("boot {}: ", boots_),
                 trace::verdict(result.summary, result.losses.losses(), why, ending, "",
                                result.losses.all_lost().others));
}

void Closing::print_total() const {
    if (plan_.options.reboots > 0) {
        print_output("{}: {} boots, {} of them incomplete\n",
                     incomplete_ == 0 ? "complete" : "incomplete", boots_, incomplete_);
    }
    std::fflush(stdout);
}

void Closing::boot_over(const TraceResult& result) {
    print_output("\n");
    print_tables(result);
    print_verdict(result,
                  result.doubts.empty() ? std::string(trace::engine_caveat(result.engine))
                                        : result.doubts,
                  abi::Ending::machine_reset);
    print_output("the next boot begins\n");
    std::fflush(stdout);
}

Status Closing::not_started(const RunEnd& stop) {
    const std::string why = stop.why.empty() ? "QEMU ended" : stop.why;
    print_message("mmioscope: {} before the hypervisor was ready{}\n", why,
                  boots_ > 0 ? fmt::format(" again, after boot {}", boots_) : "");
    write_message(lines_for_terminal(stop.report));
    if (plan_.serials.stream == plan_.board.hypervisor_serial && !plan_.board.one_serial()) {
        print_message(
            "the hypervisor uses the stream's UART for messages until it has read the device "
            "tree: the reason may be there, so try another --stream\n");
    }
    if (stop.report.empty()) {
        write_message(log_end("hypervisor's log", files_.hypervisor_log));
    }
    write_message(log_end("QEMU's messages", files_.messages));
    return trace::status_of(stop.ending, false);
}

Status Closing::end(const RunEnd& stop, const TraceResult& result, std::uint64_t not_printed) {
    print_output("{}\n", trace::not_printed_note(not_printed));
    print_tables(result);
    if (!plan_.options.console) {
        write_output(log_end("guest's console", files_.console_log));
    }
    print_output("{}", saved_note(plan_.options.output, boots_ + 1));
    write_message(lines_for_terminal(stop.report));
    if (stop.ending == abi::Ending::failed) {
        write_message(log_end("QEMU's messages", files_.messages));
    }
    print_verdict(result, why_incomplete(plan_, stop, result, files_), stop.ending);
    print_total();
    return status_of_output(trace::status_of(stop.ending, incomplete_ == 0));
}

SharedConsole::SharedConsole(int wire, int console, int stream)
    : from_(wire), console_(console, "the console"), stream_(stream), buffer_(64 * 1024) {}

void SharedConsole::pass() {
    struct stat status {};
    if (::fstat(from_, &status) != 0) {
        throw failure("cannot read the wire: {}", std::strerror(errno));
    }
    // Only what is there by now: QEMU may send without pause, and somebody looks for Ctrl-C.
    while (read_ < static_cast<std::uint64_t>(status.st_size)) {
        const ssize_t size =
            ::pread(from_, buffer_.data(), buffer_.size(), static_cast<off_t>(read_));
        if (size < 0) {
            throw failure("cannot read the wire: {}", std::strerror(errno));
        }
        if (size == 0) {
            return;
        }
        read_ += static_cast<std::uint64_t>(size);
        wire_.feed(std::span<const std::byte>(buffer_).first(static_cast<std::size_t>(size)));
        console_.append(wire_.console());
        append(stream_, wire_.stream(), "the stream");
    }
}

} // namespace mmioscope::run
