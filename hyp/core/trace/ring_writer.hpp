// The writing end of one CPU's ring. Only that CPU calls it. abi/ring.hpp has layout and order.
// Others can write to the ring, too, perhaps the guest. So the writer reads only the readers' words
// from it, and checks them.
#pragma once

#include "abi/ring.hpp"
#include "port/barrier.hpp"
#include "port/memory.hpp"
#include "port/shared.hpp"
#include "port/sysreg.hpp"
#include "trace/chooser.hpp"
#include "trace/payload.hpp"

#include <utility>

namespace mmioscope {

/// Of an event that is no access; `pa_low` says more about it.
inline abi::Record event_record(abi::RecordType type, std::uint64_t value, std::uint32_t pa_low = 0,
                                std::uint16_t device = abi::no_device) {
    abi::Record record{};
    record.type = type;
    record.value = value;
    record.pa_low = pa_low;
    record.device = device;
    return record;
}

class RingWriter {
public:
    /// Starts the ring of `cpu` at `header`, which is zero except for `boot_number`. It has
    /// `capacity` slots, which may contain anything. `host_reader`: wait for a reader over shared
    /// memory.
    void start(abi::RingHeader& header, std::uint32_t cpu, std::uint64_t capacity,
               abi::Policy policy, bool host_reader);

    /// Whether `count` more records can be published without losing one.
    bool has_room(std::uint64_t count);

    /// Marks an access as in flight and returns its time. Readers that see no mark rely on every
    /// later record having a later time, so the mark precedes reading the clock. The rest comes
    /// behind the barrier, too: nobody sees it with the mark of the access before.
    std::uint64_t begin(std::uint32_t pc, std::uint64_t pa) {
        const std::uint64_t time = mark();
        begun(time, pc, pa);
        return time;
    }
    /// The access in flight has begun at `time`. Also called if the slow path goes on with an
    /// access of the fast path, whose mark refers to the slot: that may get another record first.
    void begun(std::uint64_t time, std::uint32_t pc, std::uint64_t pa) {
        abi::RingHeader& header = *header_;
        port::store_shared(header.in_flight_time, time);
        port::store_shared(header.in_flight_pc, pc);
        port::store_shared(header.in_flight_pa, pa);
        port::order_memory();
        port::store_shared(header.in_flight, abi::InFlight::in_header);
    }

    /// Waits until the access in flight is done on the bus: a load has its value, a store has
    /// arrived. Returns the time.
    std::uint64_t complete() {
        port::complete_system();
        port::synchronize_context(); // the counter may be read early, as in begin()
        return port::read<reg::CNTPCT>();
    }

    /// Publishes `record`, after setting its cpu, cpu_sequence and commit. If the ring is full, the
    /// policy decides: the record is lost and counted, or it overwrites the oldest one. An access
    /// that the chooser leaves out is only counted. Its notice() may be published beside it.
    /// `payload` goes behind it, and shares its fate.
    void publish(abi::Record& record, const Payload& payload = no_payload);

    // Between reserve() and release() the fast path (entry/fast_path.S) publishes by itself, in the
    // same order.

    /// Reserves the slots up to the next multiple of `reserve_batch` for the fast path, in words of
    /// FastState. False: the ring has no room for that many.
    [[nodiscard, gnu::always_inline]] bool reserve(std::uint32_t& header, std::uint32_t& slot,
                                                   std::uint32_t& sequence, std::uint32_t& commit,
                                                   std::uint32_t& head) {
        constexpr auto most = static_cast<std::uint32_t>(abi::reserve_batch);
        const auto address = [](const void* object) {
            return static_cast<std::uint32_t>(port::address_of(object).value);
        };
        const std::uint32_t from_sequence = static_cast<std::uint32_t>(head_) + 1 - sequence_;
        // What was reserved before is right if all that was published since has slot and number,
        // and some of it is left, for which there is room: after a loss there is none.
        const bool left =
            header != 0 && head == from_sequence && reserved_end_ - sequence_ - 1 < room_;
        if (!left) {
            const std::uint32_t count = most - slot_ % most;
            if (!may_reserve(count)) return false;
            reserved_end_ = sequence_ + count;
            header = address(&header_->others);
            commit = abi::commit_word(boot_number_, head_) - sequence_;
            head = from_sequence;
        }
        slot = address(&slots_[slot_].pc);
        sequence = sequence_;
        return reserved_ = true;
    }
    /// After release() of all that were reserved: reserves as many again. `slot` points behind the
    /// last one.
    [[nodiscard]] bool reserve_more(std::uint32_t& slot);
    /// Ends that. Returns how many accesses the fast path has published; `sequence` is that of the
    /// next record.
    [[gnu::always_inline]] std::uint32_t release(std::uint32_t sequence) {
        if (!reserved_) return 0;
        reserved_ = false;
        const std::uint32_t count = sequence - sequence_;
        if (count == 0) return 0;
        sequence_ = sequence;
        head_ += count;
        room_ -= count;
        slot_ = slot_ + count == capacity_ ? 0 : slot_ + count;
        return count - std::exchange(events_, 0);
    }
    /// Whether all reserved slots are used.
    bool spent(std::uint32_t sequence) const { return sequence == reserved_end_; }
    /// The slot of the next record.
    const abi::Record& next_slot() const { return slots_[slot_]; }

    /// Publishes a begin record, if it is certain that its access's record will follow. `several`:
    /// the instruction makes several accesses.
    void announce(abi::Record& begin, bool several);

    /// Ends the access in flight, after its records were published.
    void finish() {
        port::order_memory(); // the records before the mark that they are complete
        port::store_shared(header_->in_flight, abi::InFlight::none);
    }

    /// begin(), publish() and finish() for an event that is no access: it happens now, so the mark
    /// need not say what it is.
    void publish_event(abi::Record& record, const Payload& payload = no_payload);
    /// The same in the next slot that is reserved, in place of an access of the fast path.
    void publish_next(abi::Record& record, std::uint32_t& slot, std::uint32_t& sequence);

    /// The most recent records, for the panic report; `age` 0 is the newest. Null: there is none
    /// that old.
    const abi::Record* recent(unsigned age) const;

    /// From now on `chooser` decides which accesses are published; the others are counted. Null:
    /// all are published.
    void obey(Chooser* chooser) { chooser_ = chooser; }
    /// May be called by any CPU.
    void set_policy(abi::Policy policy) { port::store_shared(policy_, policy); }
    bool stalls() const { return port::load_shared(policy_) == abi::Policy::stall; }
    /// The number of records that it has published; for another CPU to ask.
    std::uint64_t published() const { return port::load_shared(head_); }
    /// Word `n` of the statistics, for another CPU to read; 0 before start().
    std::uint64_t statistic(unsigned n) const;

    abi::Statistics& statistics() { return header_->statistics; }
    /// One more in `counter`, whose upper word seldom changes.
    void count(std::uint64_t abi::Statistics::*counter) {
        using Word [[gnu::may_alias]] = std::uint32_t;
        auto* const words = reinterpret_cast<Word*>(&(header_->statistics.*counter));
        if (++words[0] == 0) [[unlikely]]
            ++words[1];
    }

private:
    std::uint64_t mark() {
        port::store_shared(header_->in_flight, abi::InFlight::beginning);
        port::complete_all();        // a DMB would not order the mark before the counter,
        port::synchronize_context(); // which may be read early (ARM ARM B8.1.2)
        return port::read<reg::CNTPCT>();
    }
    std::uint32_t farthest_behind();
    bool update_room();
    /// Whether the fast path may publish the next `count` records: they have room, and none of them
    /// passes a half turn, which only store() counts.
    bool may_reserve(std::uint32_t count) {
        if (room_ < count && (!update_room() || room_ < count)) return false;
        return static_cast<std::int32_t>(head_ ^ (head_ + count)) >= 0;
    }
    void lose(const abi::Record& record, std::uint32_t pieces);
    void number(const abi::Record& record, std::uint32_t pieces = 0);
    Chooser::Verdict choose(const abi::Record& record);
    void put(abi::Record& record, Payload payload);
    void append(abi::Record& record);
    void append_group(abi::Record& record, Payload payload);
    void publish_otherwise(abi::Record& record, const Payload& payload);
    void publish_chosen(abi::Record& record, Payload payload);
    void publish_notice(std::uint64_t time);

    void publish_gap(std::uint64_t time);
    void store(abi::Record& record);
    void number_others(std::uint32_t others);
    void fill(abi::Record& slot, abi::Record& record, std::uint64_t position);
    void count_half_turn();

    abi::RingHeader* header_{};
    abi::Record* slots_{};
    std::uint64_t head_{}; ///< position of the next record
    std::uint32_t slot_{}; ///< head_ % capacity, without the division
    std::uint32_t room_{}; ///< records that certainly have room; 0 while a loss must be reported
    std::uint32_t capacity_{};
    std::uint32_t tails_[abi::reader_count]{}; ///< the readers' positions (lower words), the last
                                               ///< sensible ones
    std::uint64_t lost_{};
    std::uint64_t pending_gap_{}; ///< records lost since the last one that was published
    std::uint32_t sequence_{};
    std::uint32_t others_{}; ///< numbered records that are no accesses
    std::uint32_t boot_number_{};
    std::uint8_t cpu_{};
    abi::Policy policy_{};
    Chooser* chooser_{};
    std::uint32_t passed_{}; ///< the chooser counts in it
    bool reserved_{};
    std::uint32_t events_{};       ///< in slots that are reserved
    std::uint32_t reserved_end_{}; ///< cpu_sequence after the last reserved slot
};

} // namespace mmioscope
