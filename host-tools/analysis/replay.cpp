#include "analysis/replay.hpp"

#include "reading/kept.hpp"
#include "registers/fields_text.hpp"
#include "system/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace mmioscope::analysis {

bool Replay::is_of_region(const Event& event) {
    const std::uint16_t region = region_.value_or(event.record.device);
    if (event.record.device != region) {
        other_ = given_ || !other_.empty() ? other_ : std::string(event.device());
        return false;
    }
    if (device_.empty()) {
        device_ = event.device();
        region_ = region;
        base_ = abi::physical_address(event.record) - event.offset();
    }
    return true;
}

std::string_view Replay::function_of(const Event& event) {
    const Id id = event.code_id();
    if (id >= functions_of_.size()) {
        functions_of_.resize(id + 1);
    }
    std::string_view& name = functions_of_[id];
    if (name.data() == nullptr) {
        const Location* const code = event.code();
        name = *functions_.insert(code == nullptr ? std::string() : code->function).first;
    }
    return name;
}

void Replay::add(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type != abi::RecordType::access || record.device == abi::no_device ||
        !is_of_region(event)) {
        return;
    }
    if (accesses_ == limits_.accesses) {
        ++left_out_;
        return;
    }
    ++accesses_;
    const bool known = (record.flags & abi::flag_value_unknown) == 0;
    if ((!known && abi::is_write(record)) || abi::access_size(record) > 8) {
        written_.erase(event.offset());
        first_undoable_ = undoable_++ == 0 ? event.number : first_undoable_;
        return;
    }
    const std::optional<Thread> thread =
        finder_.add(event); // a poll that this ends is folded first
    wait(event);
    Step step;
    step.size = abi::access_size(record);
    step.offset = event.offset();
    step.value = record.value;
    step.event = event.number;
    step.reg = event.reg();
    step.function = function_of(event);
    const auto written = written_.find(step.offset);
    if (abi::is_write(record)) {
        step.kind = Step::Kind::write;
        written_[step.offset] = {step.value, step.size};
    } else {
        const bool back = known && written != written_.end() && written->second.size == step.size &&
                          written->second.value == step.value;
        step.kind = back ? Step::Kind::check : Step::Kind::read;
    }
    steps_.push_back(step);
    parts_.push_back({thread});
}

void Replay::wait(const Event& event) {
    const std::uint64_t pause =
        event.nanoseconds > end_ && !steps_.empty() ? event.nanoseconds - end_ : 0;
    end_ = std::max(end_, event.nanoseconds + tick_.nanoseconds(event.record.duration));
    if (pause >= limits_.delay && pause < limits_.idle) {
        Step step;
        step.kind = Step::Kind::delay;
        step.value = pause / 1000;
        steps_.push_back(step);
        parts_.emplace_back();
    }
}

// Only a loop that does nothing but read is one step: what else it writes would be lost. A delay in
// it is part of the waiting.
void Replay::fold(Thread thread, const Poll& poll) {
    if (poll.kind != PollKind::poll || poll.bits == 0) {
        return;
    }
    // From behind: it has just ended.
    std::size_t first = steps_.size(), last = first;
    for (std::size_t at = steps_.size(); at-- > 0;) {
        const Step& step = steps_[at];
        if (step.event != 0 && step.event < poll.first.number) {
            break;
        }
        if (step.event != 0 && step.event <= poll.last.number && parts_[at].thread == thread) {
            if (step.kind == Step::Kind::write || step.offset != poll.read.offset()) {
                return;
            }
            last = first == steps_.size() ? at : last;
            first = at;
        }
    }
    if (first == steps_.size()) {
        return;
    }
    for (std::size_t at = first + 1; at <= last; ++at) {
        Part& part = parts_[at];
        part.folded = part.folded || part.thread == thread || steps_[at].kind == Step::Kind::delay;
    }
    Step& step = steps_[first];
    step.kind = Step::Kind::poll;
    step.mask = poll.bits;
    step.value = poll.read.record.value & poll.bits;
    step.answer = poll.read.record.value;
    step.reg = poll.read.reg();
    step.function = function_of(poll.read);
}

void Replay::finish() {
    finder_.cut_all();
    const auto folded = std::ranges::find(parts_, true, &Part::folded);
    auto kept = static_cast<std::size_t>(folded - parts_.begin());
    for (std::size_t at = kept; at < steps_.size(); ++at) {
        if (!parts_[at].folded) {
            steps_[kept++] = steps_[at];
        }
    }
    steps_.resize(kept);
    parts_.clear();
}

namespace {

// Names may come from files: they must not end a comment.
void add_comment(std::string& to, std::string_view text) {
    if (std::ranges::all_of(text, is_plain) && text.find('*') == text.npos) {
        to += text; // the usual case
        return;
    }
    const std::size_t begin = to.size();
    to += for_terminal(text);
    for (std::size_t at = to.find("*/", begin); at != to.npos; at = to.find("*/", at)) {
        to.insert(at + 1, " ");
    }
}

std::string comment_text(std::string_view text) {
    std::string comment;
    add_comment(comment, text);
    return comment;
}

std::string identifier(std::string_view name) {
    std::string word;
    for (const char c : name) {
        word += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    }
    return !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) == 0 ? word
                                                                                   : "_" + word;
}

std::string head_of(const ReplayOf& of, std::span<const Step> steps) {
    const std::string events =
        steps.empty() ? "no events"
                      : fmt::format("events {} to {}", steps.front().event, steps.back().event);
    return comment_text(fmt::format("{} at {:#x}: {} steps, from {} of {} by mmioscope gen",
                                    of.device, of.base, steps.size(), events, of.trace));
}

/// Makes the comments of steps: register, fields, function.
class Comments {
public:
    /// Valid until the next call.
    std::string_view of(const Step& step) {
        const Key key{step.reg, step.offset << 4 | step.size, step.function.data()};
        const std::uint64_t value = step.mask == 0 ? step.value : step.answer;
        Known& known = known_.of(key, [&step](Known& made) {
            made.name.clear();
            add_comment(made.name, registers::register_text(step.reg, step.offset));
            made.function.clear();
            if (!step.function.empty()) {
                made.function = "; ";
                add_comment(made.function, step.function);
            }
            made.has_fields = step.reg != nullptr && registers::says_anything(*step.reg);
            made.value.reset();
        });
        if (!known.value || (known.has_fields && known.value != value)) {
            known.value = value;
            known.text = known.name;
            const std::string fields =
                known.has_fields
                    ? registers::fields_text(*step.reg, value, step.size,
                                             static_cast<unsigned>(step.offset - step.reg->offset))
                    : std::string();
            if (!fields.empty()) {
                add_comment(known.text += ": ", fields);
            }
            known.text += known.function;
        }
        return known.text;
    }

private:
    struct Key {
        const Register* reg = nullptr;
        std::uint64_t place = ~std::uint64_t{0}; ///< offset and size
        const char* function = nullptr;
        bool operator==(const Key&) const = default;
        std::uint64_t hash() const {
            return reading::mixed(place ^ reinterpret_cast<std::uintptr_t>(function)) >> 40;
        }
    };
    struct Known {
        std::string name, function;
        std::string text; ///< all
        bool has_fields = false;
        std::optional<std::uint64_t> value; ///< of which `text` has the fields
    };
    reading::KeptByKey<Key, Known, 256> known_;
};

// `digits` at least. The cursor stays in a register if its address is not passed on.
[[nodiscard]] TextCursor hex(TextCursor at, std::uint64_t value, unsigned digits) {
    at.hex(value, std::max(digits, TextCursor::hex_digits(value)));
    return at;
}

constexpr std::size_t longest_step = 128; ///< characters, without its comment

// The player is part of the file, so that the table has one meaning.
constexpr char player[] = R"(
#include <stdint.h>

enum mmio_op {
    MMIO_WRITE, /* writes `value` */
    MMIO_READ,  /* reads, and does not look at the answer; `value` is what it was */
    MMIO_CHECK, /* reads `value` back */
    MMIO_POLL,  /* reads until (answer & mask) == value */
    MMIO_DELAY, /* waits `value` microseconds */
};

struct mmio_step {
    uint8_t op;
    uint8_t size; /* bytes: 1, 2, 4 or 8 */
    uint32_t offset;
    uint64_t value, mask;
};

#ifndef MMIO_POLL_MOST
#define MMIO_POLL_MOST 1000000 /* reads of one poll */
#endif

static inline uint64_t mmio_read(const volatile void *at, unsigned size)
{
    switch (size) {
    case 1: return *(const volatile uint8_t *)at;
    case 2: return *(const volatile uint16_t *)at;
    case 4: return *(const volatile uint32_t *)at;
    default: return *(const volatile uint64_t *)at;
    }
}

static inline void mmio_write(volatile void *at, unsigned size, uint64_t value)
{
    switch (size) {
    case 1: *(volatile uint8_t *)at = (uint8_t)value; break;
    case 2: *(volatile uint16_t *)at = (uint16_t)value; break;
    case 4: *(volatile uint32_t *)at = (uint32_t)value; break;
    default: *(volatile uint64_t *)at = value; break;
    }
}

/* Does `count` steps on the device mapped at `base`. `delay` waits microseconds; null: no delays.
 * Returns `count`, or the index of the check or the poll that failed, where it stops. */
static inline unsigned mmio_replay(volatile void *base, const struct mmio_step *steps, unsigned count,
                                   void (*delay)(unsigned us))
{
    for (unsigned i = 0; i < count; ++i) {
        const struct mmio_step *step = &steps[i];
        volatile uint8_t *at = (volatile uint8_t *)base + step->offset;
        uint64_t left = MMIO_POLL_MOST;

        switch ((enum mmio_op)step->op) {
        case MMIO_WRITE: mmio_write(at, step->size, step->value); break;
        case MMIO_READ: (void)mmio_read(at, step->size); break;
        case MMIO_CHECK:
            if (mmio_read(at, step->size) != step->value)
                return i;
            break;
        case MMIO_POLL:
            while ((mmio_read(at, step->size) & step->mask) != step->value)
                if (--left == 0)
                    return i;
            break;
        case MMIO_DELAY:
            if (delay)
                delay((unsigned)step->value);
            break;
        }
    }
    return count;
}

)";

constexpr std::array<std::string_view, 5> ops{"WRITE, ", "READ, ", "CHECK, ", "POLL, ", "DELAY, "};

TextBuffer c_text(const ReplayOf& of, std::span<const Step> steps) {
    const std::string name = identifier(of.device);
    TextBuffer text;
    text.append(fmt::format("/* {}. */\n{}#define {}_base {:#x}u\n\n"
                            "static const struct mmio_step {}_steps[] = {{\n",
                            head_of(of, steps), player, name, of.base, name));
    Comments comments;
    for (const Step& step : steps) {
        const bool delay = step.kind == Step::Kind::delay;
        const std::string_view comment = delay ? std::string_view() : comments.of(step);
        TextCursor at = text.cursor(longest_step + comment.size());
        at.append("    {MMIO_");
        at.append(ops[static_cast<std::size_t>(step.kind)]);
        if (delay) {
            at.append("0, 0, ");
            at.decimal(step.value);
            at.append(", 0},\n");
        } else {
            at.decimal(step.size);
            at.append(", ");
            at = hex(at, step.offset, 3);
            at.append(", ");
            at = hex(at, step.value, 2 * step.size);
            at.append(", ");
            if (step.mask == 0) {
                at.append('0');
            } else {
                at = hex(at, step.mask, 2 * step.size);
            }
            at.append("}, /* ");
            at.append(comment);
            at.append(" */\n");
        }
        text.end(at);
    }
    text.append("};\n");
    return text;
}

// devmem is busybox's; it takes the width in bits.
constexpr char functions[] = R"sh(set -u
base=${1:-%base%}
at() { printf '%#x' $((base + $1)); }
w() { devmem "$(at "$1")" "$2" "$3"; }
r() { devmem "$(at "$1")" "$2" >/dev/null; }
failed() { echo "$0: offset $1: $2, expected $3" >&2; exit 1; }
check() {
    got=$(devmem "$(at "$1")" "$2")
    [ $((got)) = $(($3)) ] || failed "$1" "$got" "$3"
}
poll() { # OFFSET WIDTH MASK VALUE
    left=10000
    while got=$(devmem "$(at "$1")" "$2"); [ $((got & $3)) != $(($4)) ]; do
        left=$((left - 1))
        [ $left -gt 0 ] || failed "$1" "$got" "$4 in the bits $3"
    done
}

)sh";

constexpr std::array<std::string_view, 5> words{"w ", "r ", "check ", "poll ", "usleep "};

TextBuffer sh_text(const ReplayOf& of, std::span<const Step> steps) {
    std::string body = functions;
    const std::string_view base = "%base%";
    body.replace(body.find(base), base.size(), fmt::format("{:#x}", of.base));
    TextBuffer text;
    text.append(fmt::format("#!/bin/sh\n# {}.\n# Needs busybox's devmem and usleep, and a "
                            "kernel that lets root access the device.\n{}",
                            head_of(of, steps), body));
    Comments comments;
    for (const Step& step : steps) {
        using enum Step::Kind;
        const std::string_view comment =
            step.kind == delay ? std::string_view() : comments.of(step);
        TextCursor at = text.cursor(longest_step + comment.size());
        const char* const begin = at.at();
        at.append(words[static_cast<std::size_t>(step.kind)]);
        if (step.kind == delay) {
            at.decimal(step.value);
        } else {
            at = hex(at, step.offset, 3);
            at.append(' ');
            at.decimal(8 * step.size);
            if (step.kind == poll) {
                at.append(' ');
                at = hex(at, step.mask, 2 * step.size);
            }
            if (step.kind != read) {
                at.append(' ');
                at = hex(at, step.value, 2 * step.size);
            }
            at.pad_to(34, static_cast<std::size_t>(at.at() - begin));
            at.append(" # ");
            at.append(comment);
        }
        at.append('\n');
        text.end(at);
    }
    return text;
}

constexpr std::array<ReplayFormat, 2> formats{{
    {"c", "a C table, and the function that plays it", c_text},
    {"sh", "a shell script, for busybox's devmem on the board", sh_text},
}};

} // namespace

std::span<const ReplayFormat> replay_formats() {
    return formats;
}

} // namespace mmioscope::analysis
