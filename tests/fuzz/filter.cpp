// A filter is whatever a user or a script writes: it must compile, or give one line of error;
// negated twice it must mean the same.
#include "filter/filter.hpp"

#include "host-tools/given_event.hpp"
#include "system/error.hpp"

#include <cstdlib>
#include <memory>

namespace {

using namespace mmioscope;

std::unique_ptr<filter::Filter> compiled(const std::string& text, unsigned depth) {
    filter::Settings settings;
    settings.custom = [](const std::string& name, const filter::CallOptions& options) {
        const bool answer = name.size() + options.size() > 4;
        return [answer](const Event&) { return answer; };
    };
    settings.most_depth = depth;
    try {
        return std::make_unique<filter::Filter>(text, settings);
    } catch (const Error& error) {
        const std::string_view line = error.what();
        if (error.status() != Status::bad_input || line.find('\n') != std::string_view::npos) {
            std::abort();
        }
        return nullptr;
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::unique_ptr<filter::Filter> filter = compiled(text, 100);
    if (!filter) {
        return 0;
    }
    const std::unique_ptr<filter::Filter> again = compiled("!(!(" + text + "))", 102);
    if (!again) {
        if (text.size() > 64 * 1024 - 6) {
            return 0;
        }
        std::abort();
    }
    static const Register reg{
        "FR", 0x18, 4, "", {{"TXFF", 5, 1, {{1, "full"}}}, {"MODE", 8, 4, {}}}};
    static const Location code{
        "pl011_tx_chars", 4, "", {{"inlined", "drivers/tty/amba-pl011.c", 1}}};
    static const Task task{57, 50, "kworker/0:1"};
    static const Event named = test::given_event(
        {}, {.device = "serial0", .offset = 0x18, .reg = &reg, .code = &code, .task = &task});
    Event event = named;
    event.record.type = abi::RecordType::access;
    event.record.access = abi::encode_access(false, 2);
    for (unsigned k = 0; k < 16; ++k) { // vary each bit, and each register's field
        event.record.value = k * 0x111;
        event.record.cpu = k % 4;
        event.nanoseconds = k * 250'000'000ull;
        if ((*filter)(event) != (*again)(event)) {
            std::abort();
        }
    }
    return 0;
}
