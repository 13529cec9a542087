// The writing end of one CPU's ring. Only that CPU calls it; layout and order: abi/ring.hpp. Others
// can write there, the guest too if it may: of what is there only the readers' words are taken, and
// checked.
#pragma once

#include "abi/ring.hpp"
#include "port/barrier.hpp"
#include "port/shared.hpp"
#include "port/sysreg.hpp"
#include "trace/choice.hpp"

namespace mmioscope {

class RingWriter {
public:
    /// Takes over the ring at `header`, which is zero but for `boot_number`, for `cpu`, with
    /// `capacity` records, whatever is in them. `host_reader`: waits for one over shared memory.
    void start(abi::RingHeader& header, std::uint32_t cpu, std::uint64_t capacity,
               abi::Policy policy, bool host_reader);

    /// True if `count` more records can be published without losing one.
    bool has_room(std::uint64_t count);

    /// True if the next record has room, and no loss to be told of before it. What is on the way of
    /// every access: the readers' words are looked at once in `looks_ahead` records.
    bool ready() { return room_ != 0 || look_ahead(); }

    /// Marks an access as in flight and returns its time. Readers that see no mark may rely
    /// on every later record having a later time, so the mark precedes the clock.
    std::uint64_t begin(std::uint32_t pc, std::uint64_t pa) {
        abi::RingHeader& header = *header_;
        port::store_shared(header.in_flight, abi::InFlight::beginning);
        port::store_shared(header.in_flight_pc, pc);
        port::store_shared(header.in_flight_pa, pa);
        port::complete_all();        // a DMB would not order the mark before the counter is read,
        port::synchronize_context(); // and the counter may be read early (ARM ARM B8.1.2)
        const std::uint64_t time = port::read<reg::CNTPCT>();
        port::store_shared(header.in_flight_time, time);
        port::order_memory();
        port::store_shared(header.in_flight, abi::InFlight::begun);
        return time;
    }

    /// The access in flight is done on the bus when this returns: a load has its value, a store has
    /// arrived. Returns the time.
    std::uint64_t complete() {
        port::complete_system();
        port::synchronize_context(); // the counter may be read early, as in begin()
        return port::read<reg::CNTPCT>();
    }

    /// Publishes `record` (its cpu, cpu_sequence and commit are filled in here). If the ring is
    /// full, the record is lost and counted, or the oldest is overwritten, as the policy says. An
    /// access that is not chosen is counted only; one that a trigger fires at has a record of that
    /// beside it.
    void publish(abi::Record& record);

    // One record of an access, written where it will stay, where ready() is true and nothing is
    // chosen: open(), begin(), the access, all fields but cpu, cpu_sequence and commit, close().

    port::SharedPayload<abi::Record> open() {
        abi::Record& slot = slots_[slot_];
        // A reader under `flight` must not take the old commit word for the new payload's.
        port::store_shared(slot.commit, 0);
        port::order_memory();
        return port::SharedPayload(slot);
    }
    /// Where ready() was true before its access: publishes it.
    void publish_ready(abi::Record& record) {
        record.commit = 0;
        record.cpu = cpu_;
        record.cpu_sequence = sequence_++;
        store(record);
        port::store_shared(header_->next_sequence, sequence_);
    }
    void close(port::SharedPayload<abi::Record>& record) {
        const std::uint32_t sequence = sequence_;
        record->cpu = cpu_;
        record->cpu_sequence = sequence;
        record.end();
        sequence_ = sequence + 1;
        commit(record.where());
        port::store_shared(header_->next_sequence, sequence + 1);
    }

    /// Publishes a begin record, if it is certain that one of its access follows. `several`: of an
    /// instruction of several accesses.
    void announce(abi::Record& begin, bool several);

    /// The access in flight is over; its records are published.
    void finish() {
        port::order_memory(); // the records first, then the word that says they are all there
        port::store_shared(header_->in_flight, abi::InFlight::none);
    }

    /// begin(), publish() and finish() for what is no access in flight: it happens now.
    void publish_event(abi::Record& record);

    /// The most recent records, newest first: for the panic report. Null past the end.
    const abi::Record* recent(unsigned age) const;

    /// Accesses that `choice` leaves out are counted instead of published.
    void obey(Choice& choice) { choice_ = &choice; }
    /// By any CPU.
    void set_policy(abi::Policy policy) { port::store_shared(policy_, policy); }
    bool stalls() const { return port::load_shared(policy_) == abi::Policy::stall; }
    /// The `n`-th word of the statistics, as another CPU sees it; 0 before start().
    std::uint64_t statistic(unsigned n) const;

    abi::Statistics& statistics() { return header_->statistics; }

private:
    std::uint64_t farthest_behind();
    bool look_ahead();
    void lose();
    Trigger::Verdict choose(const abi::Record& record);
    void put(abi::Record& record);
    void tell_of_trigger(std::uint64_t time);

    void store(const abi::Record& record) {
        auto slot = open();
        port::copy_shared(slot.where(), record); // with its commit word, which is 0
        commit(slot.where());
    }
    /// The payload of the next record is in its `slot`.
    void commit(abi::Record& slot) {
        const std::uint64_t head = head_ + 1;
        port::order_memory();
        port::store_shared(slot.commit, abi::commit_word(boot_number_, head - 1));
        port::order_memory();
        port::store_shared(header_->head, head);
        head_ = head;
        slot_ = slot_ + 1 == capacity_ ? 0 : slot_ + 1;
        if (room_ != 0) --room_;
    }

    abi::RingHeader* header_{};
    abi::Record* slots_{};
    std::uint64_t head_{};       ///< position of the next record
    std::uint32_t slot_{};       ///< head_ % capacity, without the division
    std::uint32_t room_{};       ///< records that surely have room; 0 while a loss is to be told of
    std::uint32_t capacity_{};
    std::uint64_t tails_[abi::reader_count]{}; ///< the readers' words, as last believed
    std::uint64_t lost_{};
    std::uint64_t pending_gap_{}; ///< records lost since the last one published
    std::uint32_t sequence_{};
    std::uint32_t boot_number_{};
    std::uint8_t cpu_{};
    abi::Policy policy_{};
    Choice* choice_{};       ///< none: everything
    std::uint32_t passed_{}; ///< the filter, for sampling
};

} // namespace mmioscope
