// A trace area in memory, and writers that follow the protocol of abi/ring.hpp.
#pragma once

#include "records.hpp"
#include "rings/area.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace mmioscope::test {

class FakeArea {
public:
    FakeArea(unsigned cpus, std::uint64_t capacity, abi::Policy policy = abi::Policy::drop)
        : ring_size_(sizeof(abi::RingHeader) +
                     (capacity * sizeof(abi::Record) + 4095) / 4096 * 4096),
          pages_((abi::area_head_size + cpus * ring_size_) / sizeof(Page) + 1) {
        auto& header = *reinterpret_cast<abi::AreaHeader*>(pages_.data());
        header.magic = abi::area_magic;
        header.version_major = abi::version_major;
        header.header_size = sizeof header;
        header.area_size = bytes().size();
        header.counter_frequency = 1'000'000;
        header.state = abi::AreaState::running;
        header.policy = policy;
        header.cpu_count = cpus;
        header.region_size = sizeof(abi::RegionEntry);
        header.record_size = sizeof(abi::Record);
        header.regions_offset = 4096;
        for (unsigned cpu = 0; cpu < cpus; ++cpu) {
            header.ring_offset[cpu] =
                static_cast<std::uint32_t>(abi::area_head_size + cpu * ring_size_);
            ring(cpu).magic = abi::ring_magic;
            ring(cpu).capacity = capacity;
            ring(cpu).cpu = cpu;
            ring(cpu).record_size = sizeof(abi::Record);
            ring(cpu).boot_number = 3;
            ring(cpu).readers[abi::host_reader].active = 1;
        }
    }

    std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(pages_)); }
    abi::AreaHeader& header() { return *reinterpret_cast<abi::AreaHeader*>(pages_.data()); }
    abi::RingHeader& ring(unsigned cpu) {
        return *reinterpret_cast<abi::RingHeader*>(bytes().data() + abi::area_head_size +
                                                   cpu * ring_size_);
    }
    abi::Record* records(unsigned cpu) { return reinterpret_cast<abi::Record*>(&ring(cpu) + 1); }

private:
    struct alignas(4096) Page {
        std::byte bytes[4096];
    };
    std::uint64_t ring_size_;
    std::vector<Page> pages_;
};

/// The CPU that writes one ring.
class FakeCpu {
public:
    FakeCpu(FakeArea& area, unsigned cpu) : ring_(area.ring(cpu)), records_(area.records(cpu)) {}

    void begin() { set(ring_.in_flight, abi::InFlight::beginning); }

    void begun(std::uint64_t time) {
        set(ring_.in_flight_time, time);
        set(ring_.in_flight, abi::InFlight::in_header);
    }

    bool has_room() const {
        const std::uint64_t tail = get(ring_.readers[abi::host_reader].tail);
        return abi::position_of(ring_) - tail < ring_.capacity;
    }

    /// Even if there is no room.
    void publish(const abi::Record& record) { publish(std::span(&record, 1)); }
    /// All of them by one store of the head. Not `published`: it is not done.
    void publish(std::span<const abi::Record> group, bool published = true) {
        const std::uint64_t head = abi::position_of(ring_);
        for (std::size_t n = 0; n < group.size(); ++n) {
            abi::Record& slot = records_[(head + n) % ring_.capacity];
            set(slot.commit, 0u);
            std::atomic_thread_fence(std::memory_order_release);
            abi::Record copy = group[n];
            copy.commit = 0;
            slot = copy;
            set(slot.commit, abi::commit_word(ring_.boot_number, head + n));
        }
        if (published) {
            set(ring_.head, static_cast<std::uint32_t>(head + group.size()));
            set(ring_.half_turns, abi::half_turns_of(head + group.size()));
        }
    }

    void done() { set(ring_.in_flight, abi::InFlight::none); }

    std::uint32_t next_sequence() { return sequence_++; }
    abi::RingHeader& ring() { return ring_; }

private:
    template <typename T>
    static void set(T& shared, T value) {
        std::atomic_ref<T>(shared).store(value, std::memory_order_release);
    }
    static std::uint64_t get(std::uint64_t& shared) {
        return std::atomic_ref<std::uint64_t>(shared).load(std::memory_order_acquire);
    }

    abi::RingHeader& ring_;
    abi::Record* records_;
    std::uint32_t sequence_ = 0;
};

} // namespace mmioscope::test
