// What encoder and decoder of a data frame expect of the next record (abi/record_codec.hpp). All
// zero bytes are a new model.
#pragma once

#include "abi/range_coder.hpp"
#include "abi/ring.hpp"

#include <cstring>

namespace mmioscope::abi {

/// What the records of one place in the guest's code have in common, as it lies in them: they are
/// compared by words.
struct Site {
    struct alignas(4) Kind {
        RecordType type;
        std::uint8_t unused; ///< Record::cpu there, 0 here
        std::uint8_t access;
        std::uint8_t mode;
    } kind;
    struct alignas(4) Place {
        std::uint16_t device;
        std::uint8_t flags;
        std::uint8_t pa_high;
    } place;
    std::uint32_t pa_low;
    std::uint32_t va;
    std::uint32_t pc;
};
static_assert(offsetof(Record, access) == offsetof(Record, type) + 2);
static_assert(offsetof(Record, mode) == offsetof(Record, type) + 3);
static_assert(offsetof(Record, flags) == offsetof(Record, device) + 2);
static_assert(offsetof(Record, pa_high) == offsetof(Record, device) + 3);

/// What is remembered of a site.
struct SiteMemory {
    static constexpr unsigned values = 3;

    Site site;
    std::uint8_t next[2];         ///< the sites that followed on the same CPU, latest first
    std::uint32_t lr, sp;         ///< at the last visit
    std::uint32_t sp_step;        ///< sp, less the one of the record before it
    std::uint64_t recent[values]; ///< latest first

    Probability as_expected; ///< of the record behind it; then the next four are not asked
    Probability same_cpu;
    Probability follows[2];
    Probability same_context;
    Probability is_lr;
    Probability hits[values];
    SteadyNumber pause; ///< from the end of the CPU's last access to this one's time
    SteadyNumber duration;
};

/// What is remembered of a CPU.
struct CpuMemory {
    std::uint8_t site;
    std::uint32_t cpu_sequence; ///< those of the next record, if nothing happens in between
    std::uint32_t commit;
    std::uint32_t lr, sp, task;
    std::uint32_t values[4]; ///< of the last records: copying loops take lr for data
    std::uint32_t turn;      ///< how many there were: the next one's place
    std::uint64_t end;       ///< of the last access, in the coder's units
};

/// What is remembered of a task (Record::task).
struct TaskMemory {
    std::uint32_t task;
    std::uint32_t sp; ///< when it was last seen
};

struct RecordModel {
    static constexpr unsigned site_bits = 7;
    static constexpr unsigned max_sites = 1u << site_bits;
    static constexpr unsigned value_contexts = 16;
    static constexpr unsigned task_bits = 4;

    CpuMemory cpus[max_cpus];
    TaskMemory tasks[1u << task_bits];        ///< latest first
    std::uint32_t lock_sequence[max_regions]; ///< of the region's next access
    std::uint64_t time;                       ///< of the last record, in the coder's units
    std::uint8_t cpu;
    std::uint8_t newest; ///< place of the site that was written last
    std::uint8_t used;   ///< the highest place that has a site, from 1 on

    Probability in_sequence;
    Probability known;
    BitTree<site_bits> known_site;
    BitTree<3> cpu_tree;
    BitTree<8> type, access, mode, flags, device;
    Probability same_access, same_kind, same_device, no_region;
    Number pa, va, pc, lr, sp, task, sequence;
    LeadingBits address_bits, pause_bits, duration_bits;
    Probability same_task, known_task;
    BitTree<task_bits> known_task_at;
    Probability lr_is[6];
    Probability sp_is[4];
    Probability as_many_bytes[value_contexts];
    std::uint8_t last_bytes[value_contexts];
    BitTree<4> bytes[value_contexts];
    BitTree<8> low_byte[value_contexts];
    BitTree<8> high_byte[3];
    bool in_group;            ///< a piece should follow the last record (payload.hpp):
    std::uint8_t index;       ///< this one,
    std::uint32_t group_lock; ///< with this lock_sequence
    bool knows_pieces;        ///< `piece_byte` was cleared
    Probability is_piece, last_piece;
    BitTree<5> piece_size;

    SiteMemory sites[max_sites]; ///< place 0 has no site
    BitTree<8> piece_byte[4];    ///< by its place in a word

    /// Empties it. A place is cleared when it gets a site, and not looked at before: they are two
    /// thirds of the model. So is what only pieces need.
    void clear() {
        auto* end = reinterpret_cast<std::byte*>(&sites[1]);
        std::memset(static_cast<void*>(this), 0,
                    static_cast<std::size_t>(end - reinterpret_cast<std::byte*>(this)));
    }
};

} // namespace mmioscope::abi
