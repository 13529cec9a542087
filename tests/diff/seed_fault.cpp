// Writes a trace with one fault of a driver in it, for the judging of `mmioscope diff`.
//
//   seed-fault CLASS SEED IN OUT [ADDRESS]
//
// CLASS is one of
//   value       one of the values that a site writes has another bit, each time
//   register    a site of at most four writes writes to another register of its device
//   swap        two sites that write one directly behind the other do so the other way round
//   drop        a site writes no more
//   drop-event  one write of a site is missing
// A site is an address of code that writes to one register; the seed draws it from all sites of the
// trace, or of those that write to ADDRESS, each as likely as the others. Prints the number of an
// event of IN that the fault is about.
#include "../host-tools/trace_content.hpp"
#include "../sim/random.hpp"
#include "system/error.hpp"

#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace mmioscope;
using test::TraceContent;

namespace {

constexpr std::uint64_t any = ~std::uint64_t{0}; ///< address

using Indices = std::vector<std::size_t>;
using Site = std::tuple<std::uint32_t, std::uint64_t, unsigned>; ///< PC, address, size

bool is_plain_write(const abi::Record& record) {
    constexpr unsigned special =
        abi::flag_value_unknown | abi::flag_early | abi::flag_same_instruction | abi::flag_boot;
    return record.type == abi::RecordType::access && abi::is_write(record) &&
           record.device != abi::no_device && (record.flags & special) == 0;
}

Site site_of(const abi::Record& record) {
    return {record.pc, abi::physical_address(record), abi::access_size(record)};
}

class Seeder {
public:
    /// `address`: of the register that sites write to, or `any`.
    Seeder(TraceContent& content, std::uint64_t seed, std::uint64_t address)
        : content_(content), random_(seed) {
        for (std::size_t i = 0; i < content.records.size(); ++i) {
            const bool wanted =
                address == any || abi::physical_address(content.records[i]) == address;
            if (wanted && is_plain_write(content.records[i])) {
                writes_[site_of(content.records[i])].push_back(i);
            }
        }
    }

    /// The index of a record that the fault is about.
    std::size_t seed(const std::string& kind) {
        static const std::map<std::string, std::size_t (Seeder::*)()> kinds = {
            {"value", &Seeder::change_value},
            {"register", &Seeder::change_register},
            {"swap", &Seeder::swap},
            {"drop", &Seeder::drop},
            {"drop-event", &Seeder::drop_event}};
        const auto found = kinds.find(kind);
        if (found == kinds.end()) {
            throw bad_input("unknown class '{}'", kind);
        }
        return (this->*found->second)();
    }

private:
    using Writes = std::map<Site, Indices>;

    const Indices& one_of(const Writes& writes) {
        if (writes.empty()) {
            throw bad_input("no such site");
        }
        return std::next(writes.begin(), static_cast<std::ptrdiff_t>(random_.below(writes.size())))
            ->second;
    }

    std::size_t change_value() {
        const Indices& site = one_of(writes_);
        const std::size_t example = site[random_.below(site.size())];
        const std::uint64_t value = content_.records[example].value;
        const std::uint64_t bit = std::uint64_t{1}
                                  << random_.below(8 * abi::access_size(content_.records[example]));
        for (const std::size_t i : site) {
            if (content_.records[i].value == value) {
                content_.records[i].value ^= bit;
            }
        }
        return example;
    }

    std::size_t change_register() {
        Writes few;
        for (const auto& [site, indices] : writes_) {
            if (indices.size() <= 4 && !others(content_.records[indices.front()]).empty()) {
                few[site] = indices;
            }
        }
        const Indices& site = one_of(few);
        const auto addresses = others(content_.records[site.front()]);
        const std::uint64_t address = *std::next(
            addresses.begin(), static_cast<std::ptrdiff_t>(random_.below(addresses.size())));
        for (const std::size_t i : site) {
            abi::set_physical_address(content_.records[i], address);
        }
        return site.front();
    }

    /// Addresses of the device that are accessed in the same size.
    std::set<std::uint64_t> others(const abi::Record& record) {
        std::set<std::uint64_t>& all = addresses_[{record.device, abi::access_size(record)}];
        if (all.empty()) {
            for (const abi::Record& other : content_.records) {
                if (other.type == abi::RecordType::access && other.device == record.device &&
                    abi::access_size(other) == abi::access_size(record)) {
                    all.insert(abi::physical_address(other));
                }
            }
        }
        std::set<std::uint64_t> without = all;
        without.erase(abi::physical_address(record));
        return without;
    }

    // Neighbours are writes to one device by one CPU on one stack, within a millisecond.
    std::size_t swap() {
        std::map<std::tuple<unsigned, unsigned, std::uint32_t>, std::size_t> last;
        std::map<std::pair<Site, Site>, std::vector<std::pair<std::size_t, std::size_t>>> pairs;
        for (std::size_t i = 0; i < content_.records.size(); ++i) {
            const abi::Record& record = content_.records[i];
            if (!is_plain_write(record)) {
                continue;
            }
            const auto [at, added] =
                last.try_emplace({record.device, record.cpu, record.sp >> 13}, i);
            const abi::Record& before = content_.records[at->second];
            if (!added && record.time - before.time < ticks_of_a_millisecond &&
                site_of(before) != site_of(record)) {
                pairs[{site_of(before), site_of(record)}].push_back({at->second, i});
            }
            at->second = i;
        }
        if (pairs.empty()) {
            throw bad_input("no such pair");
        }
        const auto& chosen =
            std::next(pairs.begin(), static_cast<std::ptrdiff_t>(random_.below(pairs.size())))
                ->second;
        for (const auto& [first, second] : chosen) {
            swap_contents(first, second);
        }
        return chosen.front().first;
    }

    // Time and numbering stay.
    void swap_contents(std::size_t first, std::size_t second) {
        abi::Record& a = content_.records[first];
        abi::Record& b = content_.records[second];
        std::swap(a.access, b.access);
        std::swap(a.value, b.value);
        std::swap(a.pa_low, b.pa_low);
        std::swap(a.pa_high, b.pa_high);
        std::swap(a.pc, b.pc);
        std::swap(a.lr, b.lr);
        std::swap(a.va, b.va);
        std::swap(content_.callers[first], content_.callers[second]);
    }

    std::size_t drop() {
        const Indices site = one_of(writes_);
        erase(std::set<std::size_t>(site.begin(), site.end()));
        return site.front();
    }

    std::size_t drop_event() {
        const Indices& site = one_of(writes_);
        const std::size_t chosen = site[random_.below(site.size())];
        erase({chosen});
        return chosen;
    }

    // Nothing is missing: the numbers go on.
    void erase(const std::set<std::size_t>& which) {
        std::map<unsigned, std::uint32_t> of_cpu, of_device;
        std::vector<abi::Record> records;
        std::vector<trace::Caller> callers;
        for (std::size_t i = 0; i < content_.records.size(); ++i) {
            abi::Record record = content_.records[i];
            if (which.contains(i)) {
                ++of_cpu[record.cpu];
                ++of_device[record.device];
                continue;
            }
            record.cpu_sequence -= of_cpu[record.cpu];
            record.lock_sequence -= of_device[record.device];
            records.push_back(record);
            callers.push_back(content_.callers[i]);
        }
        for (test::OtherSection& other : content_.others) {
            other.in_front -= static_cast<std::size_t>(
                std::distance(which.begin(), which.lower_bound(other.in_front)));
        }
        content_.records = std::move(records);
        content_.callers = std::move(callers);
    }

    static constexpr std::uint64_t ticks_of_a_millisecond = 62'500;

    TraceContent& content_;
    sim::Random random_;
    Writes writes_;
    std::map<std::pair<unsigned, unsigned>, std::set<std::uint64_t>> addresses_;
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 5 && argc != 6) {
        fmt::print(stderr, "usage: seed-fault value|register|swap|drop|drop-event SEED IN OUT "
                           "[ADDRESS]\n");
        return 2;
    }
    try {
        TraceContent content = test::read_content(argv[3]);
        Seeder seeder(content, std::strtoull(argv[2], nullptr, 0),
                      argc == 6 ? std::strtoull(argv[5], nullptr, 0) : any);
        const std::size_t about = seeder.seed(argv[1]);
        test::write_content(argv[4], content);
        fmt::print("{}\n", about + 1);
    } catch (const Error& error) {
        fmt::print(stderr, "seed-fault: {}\n", error.what());
        return 2;
    }
    return 0;
}
