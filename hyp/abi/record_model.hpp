// What encoder and decoder of a data frame expect of the next record (abi/record_codec.hpp). All
// zero bytes are a new model.
#pragma once

#include "abi/range_coder.hpp"
#include "abi/ring.hpp"

namespace mmioscope::abi {

/// What the records of one place in the guest's code have in common.
struct Site {
    std::uint64_t pa;
    std::uint32_t va;
    std::uint32_t pc;
    std::uint16_t device;
    RecordType type;
    std::uint8_t access;
    std::uint8_t mode;
    std::uint8_t flags;

    bool operator==(const Site&) const = default;
};

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
    Number pause; ///< from the end of the CPU's last access to this one's time
    SteadyNumber duration;
};

/// What is remembered of a CPU.
struct CpuMemory {
    std::uint8_t site;
    std::uint32_t cpu_sequence; ///< those of the next record, if nothing happens in between
    std::uint32_t commit;
    std::uint32_t lr, sp, task;
    std::uint32_t values[4]; ///< of the last records, latest first: copying loops take lr for data
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

    SiteMemory sites[max_sites];
    CpuMemory cpus[max_cpus];
    TaskMemory tasks[1u << task_bits];        ///< latest first
    std::uint32_t lock_sequence[max_regions]; ///< of the region's next access
    std::uint64_t time;                       ///< of the last record, in the coder's units
    std::uint8_t cpu;
    std::uint8_t newest; ///< site that was written last; 0 is no site's place

    Probability in_sequence;
    Probability known;
    BitTree<site_bits> known_site;
    BitTree<3> cpu_tree;
    BitTree<8> type, access, mode, flags, device;
    Probability same_page;
    Probability same_offset;
    Number pa, va, pc, lr, sp, task, sequence;
    LeadingBits address_bits, pause_bits, duration_bits;
    Probability same_task, known_task;
    BitTree<task_bits> known_task_at;
    Probability lr_is[6];
    Probability sp_is[4];
    BitTree<4> bytes[value_contexts];
    BitTree<8> low_byte[value_contexts];
    BitTree<8> high_byte[3];
};

} // namespace mmioscope::abi
