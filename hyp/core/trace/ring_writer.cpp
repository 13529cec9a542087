#include "trace/ring_writer.hpp"

#include "port/memory.hpp"

namespace mmioscope {

/// A load-exclusive and its store-exclusive, each with all that may be published beside it, have
/// room in the smallest ring.
static_assert(2 * (1 + abi::max_pieces) + 4 < abi::min_capacity - abi::reserve_batch);

/// How many records the slowest reader has not read yet.
std::uint32_t RingWriter::farthest_behind() {
    const std::uint64_t head = head_;
    const auto low = static_cast<std::uint32_t>(head);
    std::uint32_t farthest = 0;
    for (unsigned n = 0; n < abi::reader_count; ++n) {
        const abi::Reader& reader = header_->readers[n];
        if (port::load_shared(reader.active) == 0) {
            tails_[n] = low;
            continue;
        }
        // A reader's position is input: one that makes no sense is ignored, and the previous one
        // stays.
        const std::uint64_t tail = port::load_shared(reader.tail);
        if (head - tail <= capacity_) tails_[n] = static_cast<std::uint32_t>(tail);
        const std::uint32_t behind = low - tails_[n];
        if (behind > farthest && behind <= capacity_) farthest = behind;
    }
    return farthest;
}

bool RingWriter::has_room(std::uint64_t count) {
    if (port::load_shared(policy_) == abi::Policy::flight) return true;
    const std::uint64_t gap = pending_gap_ != 0 ? 1 : 0;
    const std::uint64_t told = chooses(chooser_) ? 1 : 0; // Chooser::notice()
    return farthest_behind() + count + gap + told <= capacity_;
}

/// Computes how many records may be published before the next call. False: none.
bool RingWriter::update_room() {
    if (pending_gap_ != 0) return false;
    const bool overwrites = port::load_shared(policy_) == abi::Policy::flight;
    const std::uint32_t room = overwrites ? capacity_ : capacity_ - farthest_behind();
    room_ = room < abi::reserve_batch ? room : std::uint32_t{abi::reserve_batch};
    return room_ != 0;
}

bool RingWriter::reserve_more(std::uint32_t& slot) {
    constexpr auto most = static_cast<std::uint32_t>(abi::reserve_batch);
    if (!may_reserve(most)) return false;
    if (slot_ == 0) slot = static_cast<std::uint32_t>(port::address_of(&slots_[0].pc).value);
    reserved_ = true;
    reserved_end_ += most;
    return true;
}

/// Every 2^31 records: the fast path does not publish that one.
void RingWriter::count_half_turn() {
    port::order_memory(); // the head before it (abi::position_of())
    port::store_shared(header_->half_turns, abi::half_turns_of(head_));
}

/// Writes the record of `position` to its slot and commits it.
inline void RingWriter::fill(abi::Record& slot, abi::Record& record, std::uint64_t position) {
    record.commit = 0;
    record.cpu = cpu_;
    // Under `flight` a reader must not take the old commit word as that of the new contents.
    port::store_shared(slot.commit, 0);
    port::order_memory();
    port::copy_shared(slot, record); // including its commit word, which is 0
    port::order_memory();
    port::store_shared(slot.commit, abi::commit_word(boot_number_, position));
}

/// Writes the record, and publishes it.
inline void RingWriter::store(abi::Record& record) {
    const std::uint64_t head = head_;
    fill(slots_[slot_], record, head);
    port::order_memory();
    head_ = head + 1;
    const auto low = static_cast<std::uint32_t>(head + 1);
    port::store_shared(header_->head, low);
    if (low << 1 == 0) [[unlikely]]
        count_half_turn();
    if (++slot_ == capacity_) slot_ = 0;
    if (room_ != 0) --room_;
}

[[gnu::noinline]] void RingWriter::number_others(std::uint32_t others) {
    port::store_shared(header_->others, others_ += others);
}

/// `record` and `pieces` of its payload have had their numbers, published or not.
inline void RingWriter::number(const abi::Record& record, std::uint32_t pieces) {
    if (pieces != 0 || record.type != abi::RecordType::access) [[unlikely]]
        number_others(pieces + (record.type != abi::RecordType::access ? 1 : 0));
    port::store_shared(header_->next_sequence, sequence_ += 1 + pieces);
}

/// There is room, and no loss to report. Inlined: of what a slow access costs, a call would be 2 %.
[[gnu::always_inline]] inline void RingWriter::append(abi::Record& record) {
    record.cpu_sequence = sequence_;
    store(record);
    number(record);
}

/// There is room, as for append(). Readers see all of the group or nothing.
[[gnu::noinline]] void RingWriter::append_group(abi::Record& record, Payload payload) {
    const std::uint32_t pieces = payload.records();
    const std::uint64_t first = head_;
    record.cpu_sequence = sequence_;
    abi::Record next = record;
    next.flags |= abi::flag_payload;
    for (std::uint32_t n = 0;; ++n) {
        fill(slots_[slot_], next, head_++);
        slot_ = slot_ + 1 == capacity_ ? 0 : slot_ + 1;
        if (n == pieces) break;
        const std::uint32_t done = n * abi::piece_bytes;
        const bool more = n + 1 < pieces;
        next = abi::next_piece(next);
        set_bytes(next, payload.bytes + done, more ? abi::piece_bytes : payload.size - done, more);
    }
    port::order_memory();
    port::store_shared(header_->head, static_cast<std::uint32_t>(head_));
    if (abi::half_turns_of(first) != abi::half_turns_of(head_)) count_half_turn();
    room_ = room_ > pieces ? room_ - pieces - 1 : 0;
    number(record, pieces);
}

void RingWriter::lose(const abi::Record& record, std::uint32_t pieces) {
    if (lost_ == 0) port::store_shared(header_->first_lost, head_);
    port::store_shared(header_->last_lost, head_);
    port::store_shared(header_->lost, lost_ += 1 + pieces);
    pending_gap_ += 1 + pieces;
    room_ = 0;
    number(record, pieces);
}

Chooser::Verdict RingWriter::choose(const abi::Record& record) {
    if (record.type != abi::RecordType::access) return Chooser::Verdict::pass;
    return chooser_->choose(record, passed_);
}

/// Publishes the chooser's own record about an access at `time`.
void RingWriter::publish_notice(std::uint64_t time) {
    abi::Record record = chooser_->notice();
    record.time = time;
    put(record, {});
}

std::uint64_t RingWriter::statistic(unsigned n) const {
    if (header_ == nullptr) return 0;
    return port::load_shared(reinterpret_cast<const std::uint64_t*>(&header_->statistics)[n]);
}

void RingWriter::publish(abi::Record& record, const Payload& payload) {
    const bool usual = payload.size == 0 && room_ != 0 && !chooses(chooser_);
    if (!usual) [[unlikely]]
        return publish_otherwise(record, payload);
    append(record);
}

/// Reads the readers' words, but only once in `reserve_batch` records.
[[gnu::noinline]] void RingWriter::publish_otherwise(abi::Record& record, const Payload& payload) {
    if (chooses(chooser_)) publish_chosen(record, payload);
    else if (payload.size == 0 && update_room()) append(record);
    else put(record, payload);
}

[[gnu::noinline]] void RingWriter::publish_chosen(abi::Record& record, Payload payload) {
    using Verdict = Chooser::Verdict;
    record.cpu = cpu_;
    const Verdict verdict = choose(record);
    if (verdict == Verdict::hold) {
        ++header_->statistics.filtered;
        return;
    }
    if (verdict == Verdict::first) publish_notice(record.time);
    put(record, payload);
    if (verdict == Verdict::last) publish_notice(record.time);
}

void RingWriter::announce(abi::Record& begin, bool several) {
    begin.cpu = cpu_;
    if (!chooses(chooser_)) publish(begin);
    else if (chooser_->surely_takes(begin, several)) put(begin, {});
}

/// Reports a loss, for which there is room.
void RingWriter::publish_gap(std::uint64_t time) {
    abi::Record gap = event_record(abi::RecordType::gap, pending_gap_);
    gap.time = time;
    gap.cpu_sequence = sequence_ - static_cast<std::uint32_t>(pending_gap_);
    pending_gap_ = 0;
    store(gap);
}

[[gnu::noinline]] void RingWriter::put(abi::Record& record, Payload payload) {
    const std::uint32_t pieces = payload.records();
    if (!has_room(1 + pieces)) return lose(record, pieces);
    if (pending_gap_ != 0) publish_gap(record.time);
    if (pieces == 0) append(record);
    else append_group(record, payload);
}

void RingWriter::publish_event(abi::Record& record, const Payload& payload) {
    record.time = mark();
    publish(record, payload);
    finish();
}

// There is room, no loss to report, and no half turn (reserve()).
void RingWriter::publish_next(abi::Record& record, std::uint32_t& slot, std::uint32_t& sequence) {
    record.time = mark();
    record.cpu_sequence = sequence;
    const std::uint32_t ahead = sequence - sequence_;
    fill(slots_[slot_ + ahead], record, head_ + ahead);
    port::order_memory();
    port::store_shared(header_->head, static_cast<std::uint32_t>(head_) + ahead + 1);
    port::store_shared(header_->others, ++others_);
    port::store_shared(header_->next_sequence, ++sequence);
    slot += std::uint32_t{sizeof(abi::Record)};
    ++events_;
    finish();
}

const abi::Record* RingWriter::recent(unsigned age) const {
    if (header_ == nullptr || age >= head_ || age >= capacity_) return nullptr;
    return &slots_[(slot_ > age ? slot_ : slot_ + capacity_) - age - 1];
}

} // namespace mmioscope
