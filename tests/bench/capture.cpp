// capture RECORDS FILE [linux]: takes RECORDS records from a trace area that this program fills
// itself, with the recorder of `mmioscope run`, into FILE; `linux`: with the tasks and callers of a
// kernel in RAM. For counting instructions (tests/bench/capture.sh).
#include "../host-tools/fake_area.hpp"
#include "../host-tools/fake_modules.hpp"
#include "linux/caller_finder.hpp"
#include "rings/recorder.hpp"
#include "system/error.hpp"

#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

using namespace mmioscope;

namespace {

constexpr std::uint32_t frequency = 62'500'000;
constexpr unsigned cpus = 2;
constexpr unsigned records_a_pass = 1024;

constexpr std::uint32_t code = test::FakeKernel::linear + 0x28'0000;
constexpr std::uint32_t copy = code, driver = code + 0x100, leaf = code + 0x200,
                        user = code + 0x300, end = code + 0x400;

constexpr std::uint32_t bl(std::uint32_t at, std::uint32_t to) {
    return 0xeb00'0000 | ((to - at - 8) >> 2 & 0xff'ffff);
}

/// RAM with a kernel whose functions keep their return addresses in all possible places.
struct Guest {
    Guest() : modules(true), kernel(modules.kernel) {
        modules.load(0, "module");
        put(copy, {0xe92d'4010,   // push {r4, lr}
                   0xe590'3000,   // ldr r3, [r0]
                   0xe590'c000,   // ldr ip, [r0]
                   0xe590'e000,   // ldr lr, [r0]
                   0xe252'2004,   // subs r2, r2, #4
                   0x5aff'fffa,   // bpl copy + 4
                   0xe8bd'8010}); // pop {r4, pc}
        put(driver, {0xe92d'4010, bl(driver + 4, copy), bl(driver + 8, leaf),
                     0xe590'3000,   // ldr r3, [r0]
                     0xe8bd'8010}); // pop {r4, pc}
        put(leaf, {0xe590'3000,     // ldr r3, [r0]
                   0xe12f'ff1e});   // bx lr
        put(user, {0xe92d'4010, bl(user + 4, driver), 0xe8bd'8010});
        for (const std::uint32_t task : kernel.tasks) {
            kernel.set(stack(task) + 4, user + 8); // pushed by `driver`
        }
    }

    void put(std::uint32_t at, std::initializer_list<std::uint32_t> words) {
        for (const std::uint32_t word : words) {
            kernel.set(at, word);
            at += 4;
        }
    }
    /// SP in `driver`, after its push.
    std::uint32_t stack(std::uint32_t task) const { return kernel.stack(task) + 0x1f00; }

    test::FakeModules modules;
    test::FakeKernel& kernel;
    symbols::FunctionTable functions{{{copy, 't', "copy", ""},
                                      {driver, 't', "driver", ""},
                                      {leaf, 't', "leaf", ""},
                                      {user, 't', "user", ""},
                                      {end, 'D', "", ""}}};
};

/// The mix of a boot with a busy SD card: of 100 accesses 60 are in a loop that uses LR for data,
/// 30 in leaf functions, 10 in others; a CPU makes some 50 before another one does.
class Writers {
public:
    Writers(test::FakeArea& area, const Guest& guest) : guest_(guest) {
        for (unsigned cpu = 0; cpu < cpus; ++cpu) {
            writers_.emplace_back(area, cpu);
        }
    }

    void publish(unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            if (run_ == 0) {
                run_ = 1 + static_cast<unsigned>(random_() % 97);
                cpu_ = static_cast<unsigned>(random_() % cpus);
                task_ = guest_.kernel.tasks[random_() % guest_.kernel.tasks.size()];
            }
            --run_;
            writers_[cpu_].publish(next());
        }
    }

private:
    abi::Record next() {
        abi::Record record{};
        record.type = abi::RecordType::access;
        record.cpu = static_cast<std::uint8_t>(cpu_);
        record.access = abi::encode_access(count_ % 8 == 0, 2);
        record.mode = 0x13;
        record.time = time_ += 1 + random_() % 1000;
        record.cpu_sequence = writers_[cpu_].next_sequence();
        record.lock_sequence = static_cast<std::uint32_t>(count_);
        record.device = static_cast<std::uint16_t>(cpu_);
        record.value = random_();
        record.pa_low = 0x1c05'0080;
        record.task = task_;
        place(record);
        ++count_;
        return record;
    }

    // Twenty accesses; the loop makes four rounds of three.
    void place(abi::Record& record) {
        const auto at = static_cast<unsigned>(count_ % 20);
        record.sp = guest_.stack(task_);
        if (at < 12) {
            record.sp -= 8;
            record.pc = copy + 4 + at % 3 * 4;
            data_ = at < 3        ? driver + 8
                    : at % 3 == 0 ? static_cast<std::uint32_t>(random_())
                                  : data_;
            record.lr = data_;
        } else {
            record.pc = at < 18 ? leaf : driver + 12;
            record.lr = driver + 12;
        }
    }

    const Guest& guest_;
    std::vector<test::FakeCpu> writers_;
    std::mt19937 random_{1};
    unsigned run_ = 0, cpu_ = 0;
    std::uint32_t task_ = 0, data_ = 0;
    std::uint64_t count_ = 0, time_ = 1'000'000;
};

int capture(std::uint64_t count, const std::string& path, bool with_linux) {
    test::FakeArea memory(cpus, 4 * records_a_pass);
    memory.header().counter_frequency = frequency;
    const rings::Area area(memory.bytes());
    const FileDescriptor file = create_output(path);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    const abi::Info info = area.info();
    writer.values(abi::SectionType::info, std::span(&info, 1));
    const Guest guest;
    linux_guest::Onlooker onlooker(guest.kernel.memory(), frequency, guest.functions);
    for (int i = 0; with_linux && i < 10; ++i) { // until the kernel is found
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        onlooker.see({}, {}, writer);
    }
    rings::Recorder recorder(area, writer, with_linux ? &onlooker : nullptr);
    Writers writers(memory, guest);
    for (std::uint64_t left = count; left > 0;) {
        const auto now = static_cast<unsigned>(std::min<std::uint64_t>(left, records_a_pass));
        writers.publish(now);
        recorder.pass();
        left -= now;
    }
    recorder.finish(abi::Ending::machine_off);
    if (recorder.summary().records() != count || recorder.losses().lost() != 0) {
        fmt::print(stderr, "capture: {} records, not {}\n", recorder.summary().records(), count);
        return 1;
    }
    return 0;
}

} // namespace

int main(int count, char** arguments) {
    if (count < 3 || count > 4 || (count == 4 && arguments[3] != std::string("linux"))) {
        fmt::print(stderr, "usage: capture RECORDS FILE [linux]\n");
        return 2;
    }
    try {
        return capture(std::strtoull(arguments[1], nullptr, 0), arguments[2], count == 4);
    } catch (const Error& error) {
        fmt::print(stderr, "capture: {}\n", error.what());
        return static_cast<int>(error.status());
    }
}
