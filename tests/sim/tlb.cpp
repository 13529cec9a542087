#include "tlb.hpp"

#include "bus.hpp"

#include <algorithm>

namespace mmioscope::sim {

namespace {
/// For the addresses that one table of `level` translates.
constexpr unsigned table_shift(unsigned level) {
    return 48 - 9 * level;
}
/// Whether TEX, C and B mean Normal memory, without remap (B3.8.2, table B3-10).
bool is_normal(std::uint32_t tex, std::uint32_t c_and_b) {
    return tex >= 4 || c_and_b >= 2 || (tex == 1 && c_and_b == 0);
}
constexpr std::uint32_t section_fault = 0x05;
constexpr std::uint32_t page_fault = 0x07;
} // namespace

bool Invalidation::covers(std::uint64_t of_vmid, unsigned of_asid, std::uint32_t page) const {
    if (what == What::everything) return true;
    if (of_vmid != vmid) return false;
    switch (what) {
    case What::address: return page == va >> 12 && (of_asid == asid || of_asid == global);
    case What::address_any_asid: return page == va >> 12;
    case What::asid: return of_asid == asid;
    default: return true;
    }
}

Route Tlb::translate(const Regime& regime, std::uint32_t va, std::uint64_t now) {
    if (!regime.stage1) return second_stage(regime.vttbr, va, now);
    for (const unsigned asid : {unsigned{regime.asid}, global}) {
        const auto leaf = leaves_.find({regime.vmid(), asid, va >> 12});
        if (leaf == leaves_.end()) continue;
        Route route = leaf->second;
        route.ipa |= va & 0xfff;
        return route;
    }
    return first_stage(regime, va, now);
}

Route Tlb::second_stage(std::uint64_t vttbr, std::uint32_t ipa, std::uint64_t now) {
    const std::uint64_t vmid = vttbr >> 48;
    if (const auto leaf = stage2_leaves_.find({vmid, ipa >> 12}); leaf != stage2_leaves_.end()) {
        Route route = leaf->second;
        route.ipa = ipa;
        return route;
    }
    unsigned level = 3;
    std::map<PageKey, Table>::const_iterator known;
    for (; level > 1; --level)
        if (known = stage2_tables_[level].find({vmid, ipa >> table_shift(level)});
            known != stage2_tables_[level].end())
            break;
    Route route{.ipa = ipa, .filled = level > 1 ? known->second.filled : now, .asid = global};
    TablesOfWalk tables{};
    route.leaf =
        walk_from(memory_, level > 1 ? known->second.at : vttbr & address_bits, level, ipa, tables);
    for (unsigned below = level + 1; below <= 3; ++below)
        if (tables[below] != 0)
            stage2_tables_[below][{vmid, ipa >> table_shift(below)}] = {tables[below], now};
    if (route.leaf.valid()) stage2_leaves_[{vmid, ipa >> 12}] = route;
    else route.stop = Route::Stop::stage2;
    return route;
}

bool Tlb::read_descriptor(const Regime& regime, std::uint32_t ipa, std::uint64_t now,
                          std::uint32_t& descriptor, Route& route) {
    route = second_stage(regime.vttbr, ipa, now);
    if (route.stop != Route::Stop::none) {
        route.stop = Route::Stop::walk;
        return false;
    }
    const std::uint64_t address = route.leaf.output(ipa);
    descriptor = memory_.ram->contains(address, 4) ? memory_.ram->load<std::uint32_t>(address)
                                                   : memory_.bus->walk(address);
    return true;
}

/// Short descriptors, TTBR0 only (B3.5): sections and small pages.
Route Tlb::first_stage(const Regime& regime, std::uint32_t va, std::uint64_t now) {
    Route route;
    std::uint32_t descriptor = 0;
    std::uint64_t table = 0;
    std::uint64_t filled = now;
    const auto known = stage1_tables_.find({regime.vmid(), regime.asid, va >> 20});
    if (known != stage1_tables_.end()) {
        table = known->second.at;
        filled = known->second.filled;
    } else {
        const std::uint32_t at = (regime.ttbr0 & 0xffff'c000) | (va >> 20) << 2;
        if (!read_descriptor(regime, at, now, descriptor, route)) return route;
        if ((descriptor & 3) == 2)
            return leaf_of(
                regime, va, (descriptor & 0xfff0'0000) | (va & 0xf'f000),
                {(descriptor >> 17 & 1) != 0, is_normal(descriptor >> 12 & 7, descriptor >> 2 & 3)},
                now, now);
        if ((descriptor & 3) != 1) return {.stop = Route::Stop::stage1, .status = section_fault};
        table = descriptor & 0xffff'fc00;
        stage1_tables_[{regime.vmid(), regime.asid, va >> 20}] = {table, now};
    }
    const std::uint32_t at = static_cast<std::uint32_t>(table) | (va >> 12 & 0xff) << 2;
    if (!read_descriptor(regime, at, now, descriptor, route)) return route;
    if ((descriptor & 2) == 0) return {.stop = Route::Stop::stage1, .status = page_fault};
    return leaf_of(
        regime, va, descriptor & 0xffff'f000,
        {(descriptor >> 11 & 1) != 0, is_normal(descriptor >> 6 & 7, descriptor >> 2 & 3)}, filled,
        now);
}

Route Tlb::leaf_of(const Regime& regime, std::uint32_t va, std::uint32_t ipa, Leaf leaf,
                   std::uint64_t filled, std::uint64_t now) {
    Route route = second_stage(regime.vttbr, ipa, now);
    route.filled = std::min(filled, now); // stage 2 never changes
    route.asid = leaf.not_global ? regime.asid : global;
    route.normal = leaf.normal;
    if (route.stop == Route::Stop::none) leaves_[{regime.vmid(), route.asid, va >> 12}] = route;
    route.ipa |= va & 0xfff;
    return route;
}

void Tlb::forget(const Invalidation& what) {
    std::erase_if(leaves_, [&](const auto& entry) {
        const auto& [vmid, asid, page] = entry.first;
        return what.covers(vmid, asid, page);
    });
    // An address covers the tables that lead to it, even if they also lead elsewhere.
    std::erase_if(stage1_tables_, [&](const auto& entry) {
        const auto& [vmid, asid, block] = entry.first;
        const bool leads_there = block == what.va >> 20;
        return what.covers(vmid, asid, leads_there ? what.va >> 12 : block << 8);
    });
    if (!what.by_hyp) return;
    const auto of_vmid = [&](const auto& entry) {
        return what.what == Invalidation::What::everything || std::get<0>(entry.first) == what.vmid;
    };
    std::erase_if(stage2_leaves_, of_vmid);
    for (auto& tables : stage2_tables_) std::erase_if(tables, of_vmid);
}

void Tlb::evict(const Regime& regime, std::uint32_t va) {
    forget({.what = Invalidation::What::address_any_asid, .vmid = regime.vmid(), .va = va});
    stage2_leaves_.erase({regime.vmid(), va >> 12});
    for (const unsigned level : {2u, 3u})
        stage2_tables_[level].erase({regime.vmid(), va >> table_shift(level)});
}

} // namespace mmioscope::sim
