#include "record/parts.hpp"

#include "abi/payload.hpp"
#include "file/texts.hpp"
#include "records/losses.hpp"
#include "system/distinct_output.hpp"
#include "system/error.hpp"
#include "system/part_path.hpp"

#include <algorithm>

namespace mmioscope::record {

namespace {

/// Both are of one group (abi/payload.hpp): a file does not end between them.
bool belong_together(const abi::Record& before, const abi::Record& record) {
    return abi::goes_on(before) && abi::follows(record, before) && abi::is_sound_piece(record);
}

FileDescriptor create_file(const Options& options, unsigned number) {
    if (options.output.empty()) {
        return temporary_file();
    }
    const std::string path = part_path(options.output, number);
    check_distinct(path, options.inputs()); // FILE.2 may be one of them
    return create_output(path);
}

} // namespace

Parts::Parts(const Options& options, view::LivePrinter* printer, trace::About known)
    : options_(options), printer_(printer), known_(std::move(known)), packing_(!options.plain) {
    create(false);
}

Parts::~Parts() {
    file_->written.finish();
}

void Parts::create(bool continued) {
    FileDescriptor file = create_file(options_, ++number_);
    if (file_) {
        file_->written.finish();
    }
    file_ = std::make_shared<trace::FollowedFile>(std::move(file));
    writer_ = std::make_unique<trace::FileWriter>(
        file_->file.get(), file_->written,
        options_.output.empty() ? "the trace" : part_path(options_.output, number_));
    if (printer_ != nullptr) {
        printer_->follow(file_, continued);
    }
}

void Parts::begin(const Boot& boot) {
    if (used_) {
        create(false);
    }
    used_ = true;
    boot_ = &boot;
    written_losses_.clear();
    policies_ = {};
    write_head();
}

void Parts::write_head() {
    const wire::StreamHead& head = boot_->head();
    abi::Info info = head.info;
    info.policy = policies_.now(info.policy); // a later file begins with the current policy
    writer_->values(abi::SectionType::info, std::span<const abi::Info>(&info, 1));
    writer_->section(abi::SectionType::device_tree, boot_->tree());
    writer_->values(abi::SectionType::regions, std::span<const abi::RegionEntry>(head.regions));
    known_.lines = trace::origin_lines(options_.command) +
                   fmt::format("source={}\npart={}\ntime-quantum-ticks={}\n", options_.source,
                               number_, 1u << head.time_shift);
    trace::write_about(*writer_, known_);
    console_.emplace(*writer_, info.counter_frequency);
    head_size_ = writer_->size();
}

// The number of records that fit into the file. With a large head (a device tree may have 16 MiB)
// the file gets larger than requested, because files without records would follow each other for
// ever.
std::size_t Parts::room() const {
    if (options_.rotate == 0) {
        return SIZE_MAX;
    }
    const std::uint64_t size = writer_->size();
    const std::uint64_t most = std::max(options_.rotate, head_size_ + min_rotate / 2);
    return size >= most ? 0 : static_cast<std::size_t>((most - size) / sizeof(abi::Record));
}

void Parts::append(std::span<const abi::Record> records) {
    while (!records.empty()) {
        std::size_t n = std::min(records.size(), room());
        while (n < records.size() && belong_together(n == 0 ? last_ : records[n - 1], records[n])) {
            ++n;
        }
        writer_->append(records.first(n));
        if (n > 0) {
            last_ = records[n - 1];
            console_->see(records[n - 1].time);
        }
        for (const abi::Record& record : records.first(n)) {
            policies_.add(record);
        }
        records = records.subspan(n);
        if (!records.empty()) {
            close(abi::Ending::continued, "");
            create(true);
            write_head();
        }
    }
}

void Parts::close(abi::Ending ending, const std::string& about) {
    std::vector<abi::Loss> losses;
    if (boot_ != nullptr) {
        losses = boot_->losses().losses_since(written_losses_);
        written_losses_ = boot_->losses().losses();
    }
    console_.reset();
    writer_->flush();
    writer_->values(abi::SectionType::losses, std::span<const abi::Loss>(losses));
    if (boot_ != nullptr && boot_->ended()) {
        writer_->values(abi::SectionType::statistics, boot_->statistics());
    }
    writer_->text(about);
    writer_->finish(trace::sum_of(losses), ending);
    if (!options_.output.empty()) {
        packing_.add({part_path(options_.output, number_), file_, writer_->written()});
    }
    writer_.reset(); // the file ends here
}

void Parts::finish(abi::Ending ending, const std::string& about) {
    if (writer_) { // otherwise the next file could not be created
        close(ending, about);
    }
    file_->written.finish();
    boot_ = nullptr;
}

} // namespace mmioscope::record
