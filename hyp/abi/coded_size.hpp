// What a record takes at most in a frame (abi/record_codec.hpp), from the parts that code it.
#pragma once

#include "abi/payload.hpp"
#include "abi/record_model.hpp"

namespace mmioscope::abi {

template <class Coded>
constexpr unsigned most_bits_of(Coded RecordModel::*) {
    return Coded::most_bits;
}

/// What a record takes at most, in bits: of a place that is not remembered, and with nothing as
/// expected. A guest can come near it, as it chooses what it repeats.
struct MostBits {
    static constexpr unsigned flag = Probability::most_bits;

    static constexpr unsigned cpu = flag + most_bits_of(&RecordModel::cpu_tree);
    static constexpr unsigned kind =
        2 * flag + most_bits_of(&RecordModel::access) + most_bits_of(&RecordModel::type) +
        most_bits_of(&RecordModel::mode) + most_bits_of(&RecordModel::flags);
    static constexpr unsigned device = 2 * flag + most_bits_of(&RecordModel::device);
    static constexpr unsigned addresses = most_bits_of(&RecordModel::pa) +
                                          most_bits_of(&RecordModel::va) +
                                          most_bits_of(&RecordModel::pc);
    static constexpr unsigned new_site = kind + device + addresses;
    static constexpr unsigned known_site = most_bits_of(&RecordModel::known_site);
    static_assert(new_site >= known_site);
    static constexpr unsigned site = 3 * flag + new_site;

    static constexpr unsigned sequences = flag + 3 * most_bits_of(&RecordModel::sequence);
    static constexpr unsigned task = 2 * flag + most_bits_of(&RecordModel::task);
    static_assert(most_bits_of(&RecordModel::task) >= most_bits_of(&RecordModel::known_task_at));
    static constexpr unsigned lr = 6 * flag + most_bits_of(&RecordModel::lr);
    static constexpr unsigned sp = 4 * flag + most_bits_of(&RecordModel::sp);
    static constexpr unsigned context = flag + task + lr + sp;
    static constexpr unsigned value = (SiteMemory::values + 1) * flag // recent ones, lr
                                      + flag + BitTree<4>::most_bits +
                                      sizeof(Record::value) * BitTree<8>::most_bits;
    static constexpr unsigned time = 2 * SteadyNumber::most_bits;

    static constexpr unsigned record = flag + cpu + site + sequences + context + value + time;
    static constexpr unsigned piece =
        2 * flag + most_bits_of(&RecordModel::piece_size) + piece_bytes * BitTree<8>::most_bits;
    /// Of whatever kind, also in place of a piece.
    static constexpr unsigned any = piece > flag + record ? piece : flag + record;
};

/// Bytes that one record takes at most.
inline constexpr std::size_t max_coded_record = (MostBits::any + 7) / 8;

} // namespace mmioscope::abi
