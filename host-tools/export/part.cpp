#include "export/part.hpp"

#include "abi/chosen.hpp"
#include "file/console_text.hpp"
#include "file/texts.hpp"
#include "reading/strip_code.hpp"
#include "records/kinds.hpp"
#include "records/losses.hpp"
#include "records/module_table.hpp"
#include "tree/device_tree.hpp"

#include <fmt/format.h>
#include <libfdt.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>

namespace mmioscope::exporting {

namespace {

using abi::SectionType;

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

constexpr std::size_t most_at_once = 256; ///< records passed to the writer

bool same(const std::optional<Task>& left, const Task& right) {
    return left && left->pid == right.pid && left->tgid == right.tgid && left->comm == right.comm;
}

// Addresses of the guest's code may also be in the user's requests before the boot, and in the
// recorder's command line.

/// The lines of a text except those of reading::texts_with_code.
std::string text_without_code(std::span<const std::byte> payload) {
    std::string_view rest(reinterpret_cast<const char*>(payload.data()), payload.size());
    std::string kept;
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const std::string_view key = line.substr(0, line.find('='));
        if (std::find(std::begin(reading::texts_with_code), std::end(reading::texts_with_code),
                      key) == std::end(reading::texts_with_code)) {
            kept += std::string(line) + "\n";
        }
    }
    return kept;
}

/// The device tree without the board's requests; empty if it is invalid.
std::vector<std::byte> tree_without_code(std::span<const std::byte> payload) {
    if (!tree::tree_is_sound(payload)) {
        return {};
    }
    std::vector<std::byte> tree(payload.begin(), payload.end());
    const int chosen = fdt_path_offset(tree.data(), "/chosen");
    if (chosen >= 0) {
        fdt_nop_property(tree.data(), chosen, abi::chosen::requests);
    }
    return tree;
}

} // namespace

// Leaves out sections that are written again, and, without code addresses, sections that contain
// them; a section type newer than this program may.
bool Part::wanted(SectionType type) const {
    switch (type) {
    case SectionType::records:
    case SectionType::losses:
    case SectionType::index:
    case SectionType::end: return false;
    case SectionType::info:
    case SectionType::device_tree:
    case SectionType::regions:
    case SectionType::statistics:
    case SectionType::text: return true;
    default: break;
    }
    const bool plain = type == trace::tasks_section || type == trace::console_section;
    return type != trace::callers_section && (plain || !what_.no_pc);
}

void Part::add_section(const trace::Section& section) {
    if (!wanted(section.type)) {
        return;
    }
    if (section.type == SectionType::text && what_.no_pc) {
        put(section.type, bytes_of(text_without_code(section.payload)));
    } else if (section.type == SectionType::device_tree && what_.no_pc) {
        put(section.type, tree_without_code(section.payload));
    } else {
        put(section.type, section.payload);
    }
}

void Part::put(SectionType type, std::span<const std::byte> payload) {
    if (!writer_) {
        head_.emplace_back(type, std::vector<std::byte>(payload.begin(), payload.end()));
        return;
    }
    if (type == trace::tasks_section && what_.selected) {
        tasks_.add(payload);
    }
    writer_->section(type, payload);
}

// A part of a part is a part of the whole trace, and has its times.
std::string Part::text() const {
    const auto before = reader_->text().find(trace::exported_key);
    std::string words = before == reader_->text().end() ? "" : before->second + "; ";
    words += what_.words.empty() ? "all" : what_.words;
    std::replace_if(
        words.begin(), words.end(), [](unsigned char c) { return c < ' '; }, ' ');
    std::string lines = fmt::format("{}={}\n", trace::exported_key, words);
    if (what_.selected) {
        lines += fmt::format("{}={}\n", trace::exported_since_key, reader_->start().value_or(0));
    }
    return lines;
}

void Part::begin(const reading::Trace& trace, int fd, const std::string& name) {
    reader_ = &trace.reader();
    what_.selected = what_.selected || reader_->part();
    writer_.emplace(fd, progress_, name);
    for (const auto& [type, payload] : std::exchange(head_, {})) {
        put(type, payload);
    }
    writer_->text(text());
}

void Part::add(const Event& event) {
    const abi::Record& record = event.record;
    const std::vector<abi::Record>& pieces = event.payload().pieces;
    ++events_;
    if (records_.size() + pieces.size() >= std::min(most_at_once, writer_->room())) {
        put_records();
        if (pieces.size() >= writer_->room()) { // a section does not end in a group
            writer_->flush();
            tasks_.pass_records();
        }
    }
    if (!what_.selected) {
        if (const auto loss = finder_.add(event)) {
            note(*loss);
        }
    } else {
        write_task(event);
        write_modules();
    }
    callers_.push_back(what_.no_pc ? trace::lr_holds : reader_->caller_of(event.number));
    records_.push_back(record);
    const trace::Kind& kind = trace::kind_of(record.type);
    if (what_.no_pc && kind.is(trace::Is::placed) && kind.hide == trace::Hide::addresses) {
        hide_place(records_.back());
    }
    records_.insert(records_.end(), pieces.begin(), pieces.end());
    callers_.resize(records_.size(), trace::lr_holds);
}

// Like the recorder: with too many holes at least the sum is right.
void Part::note(const abi::Loss& loss) {
    constexpr std::size_t most_losses = 1u << 16;
    const auto last = std::find_if(found_.rbegin(), found_.rend(),
                                   [&](const abi::Loss& known) { return known.cpu == loss.cpu; });
    if (found_.size() < most_losses || last == found_.rend()) {
        found_.push_back(loss);
    } else {
        last->count = trace::add_lost(last->count, loss.count);
    }
}

// The address of a fetch is a code address: replace it with the start of the device.
void Part::hide_place(abi::Record& record) const {
    abi::set_physical_address(record, reader_->names().base(record.device));
}

// The record that named the task may not be in the part. Write what readers would lack before this
// record.
void Part::write_task(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type == abi::RecordType::task) {
        tasks_.add(record);
        return;
    }
    if (event.task() == nullptr || same(tasks_.of(record), *event.task())) {
        return;
    }
    trace::TaskEntry entry{record.time,       record.task,        trace::TaskKey::record,
                           event.task()->pid, event.task()->tgid, {}};
    event.task()->comm.copy(entry.comm, sizeof entry.comm);
    put_records();
    if (!writer_->pending().empty()) {
        tasks_.pass_records();
    }
    writer_->flush();
    put(trace::tasks_section, std::as_bytes(std::span(&entry, 1)));
}

// Likewise for a module's marker.
void Part::write_modules() {
    const auto& modules = reader_->modules().modules();
    const auto known = std::find_if(modules.rbegin(), modules.rend(), [this](const auto& module) {
        return module->number <= modules_;
    });
    for (auto one = known.base(); one != modules.end(); ++one) {
        const trace::LoadedModule& module = **one;
        modules_ = module.number;
        if (module.marked && !what_.no_pc) {
            std::string lines = fmt::format("module {} {:x} {} live {}\n", module.name, module.base,
                                            module.size, module.time);
            for (const trace::LoadedModule::Range& range : module.text) {
                lines += fmt::format("text {:x} {}\n", range.base, range.size);
            }
            put(trace::modules_section, bytes_of(lines));
        }
    }
}

void Part::put_records() {
    if (records_.size() == writer_->room()) { // the section is full
        tasks_.pass_records();
    }
    const bool by_lr = trace::lr_holds_for_all(callers_);
    writer_->append(records_, by_lr ? std::span<const trace::Caller>() : callers_);
    callers_.clear();
    records_.clear();
}

// For all events: the losses that they show, plus the trace's own for the rest. For some events
// only the trace's own.
std::vector<abi::Loss> Part::losses() const {
    if (what_.selected) {
        return {reader_->losses().begin(), reader_->losses().end()};
    }
    std::vector<abi::Loss> all = found_;
    if (reader_->sound()) {
        const std::vector<abi::Loss> rest = finder_.rest(reader_->losses());
        all.insert(all.end(), rest.begin(), rest.end());
    }
    return all;
}

void Part::finish() {
    put_records();
    writer_->flush();
    if (!reader_->end()) {
        return;
    }
    if (!reader_->sound()) {
        writer_->text("exported-from=a damaged trace\n");
    }
    const std::vector<abi::Loss> all = losses();
    writer_->values(SectionType::losses, std::span<const abi::Loss>(all));
    writer_->finish(trace::sum_of(all), reader_->end()->ending);
}

} // namespace mmioscope::exporting
