#include "machine/integrity.hpp"

#include "base/check.hpp"
#include "base/crc32.hpp"
#include "machine/machine.hpp"
#include "port/memory.hpp"

#include <algorithm>

namespace mmioscope {

namespace {

constexpr auto piece_size = static_cast<std::size_t>(page_size);

const std::uint8_t* bytes(const void* of) {
    return static_cast<const std::uint8_t*>(of);
}

std::size_t pieces(const SealedRange& range) {
    return (range.size + piece_size - 1) / piece_size;
}

Damage piece_of(const SealedRange& range, std::size_t n) {
    const std::size_t offset = n * piece_size;
    return {range.name, range.begin + offset,
            std::min(range.size - offset, piece_size)};
}

std::uint32_t crc_of(const Damage& piece) {
    return crc32(piece.begin, piece.size);
}

} // namespace

bool Integrity::seal(const char* name, const void* begin, const void* end, bool emptied_by_stop) {
    const SealedRange range{name, bytes(begin), static_cast<std::size_t>(bytes(end) - bytes(begin)),
                            emptied_by_stop, crcs_.size()};
    for (std::size_t n = 0; n < pieces(range); ++n)
        if (!crcs_.push_back(crc_of(piece_of(range, n)))) return false;
    return ranges_.push_back(range);
}

Damage Integrity::find_damage(bool stopped) const {
    for (const SealedRange& range : ranges_) {
        if (stopped && range.emptied_by_stop) continue;
        for (std::size_t n = 0; n < pieces(range); ++n) {
            const Damage piece = piece_of(range, n);
            if (crc_of(piece) != crcs_[range.first_crc + n]) return piece;
        }
    }
    return {};
}

namespace {

bool seal_memory(Integrity& integrity, const char* name, const Range& range) {
    const auto* begin = port::memory_at<const std::uint8_t>({range.begin});
    return integrity.seal(name, begin, begin + range.size());
}

bool is_guest_root(const Machine& machine, const void* page) {
    const auto is = [page](const TranslationTable& table) {
        return port::memory_at<const void>(table.root()) == page;
    };
    return is(machine.normal_table) ||
           std::any_of(machine.shadow_tables, machine.shadow_tables + machine.cpu_count, is);
}

/// The root entries apart from the rest of their pages.
bool seal_tables(Integrity& integrity, const Machine& machine) {
    const lpae::Descriptor* begin = machine.pool.begin();
    for (const auto* table = begin; table != machine.pool.end(); table += lpae::table_entries) {
        if (!is_guest_root(machine, table)) continue;
        const lpae::Descriptor* behind = table + lpae::root_entries;
        if (!integrity.seal("tables", begin, table) ||
            !integrity.seal("roots of the guest's tables", table, behind, true))
            return false;
        begin = behind;
    }
    return integrity.seal("tables", begin, machine.pool.end());
}

} // namespace

bool seal_machine(Machine& machine) {
    Integrity& integrity = machine.integrity;
    return seal_memory(integrity, "text", machine.image.text) &&
           seal_memory(integrity, "constants", machine.image.constants) &&
           seal_tables(integrity, machine) &&
           integrity.seal("description", &machine.config, &machine.locks);
}

Damage find_damage(const Machine& machine) {
    return machine.integrity.find_damage(machine.stopped.load(std::memory_order_relaxed) != 0);
}

void check_integrity(const Machine& machine) {
    check(find_damage(machine).name == nullptr, "the hypervisor's memory was changed");
}

} // namespace mmioscope
