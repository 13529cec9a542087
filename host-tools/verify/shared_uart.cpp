#include "verify/shared_uart.hpp"

#include "abi/shared_wire.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace mmioscope::verify {

namespace {

/// A UART's registers, as offsets.
struct Model {
    std::string_view name; ///< QEMU's, in the log
    std::uint64_t data;    ///< what is sent
    std::uint64_t status;  ///< whether there is room for it
    std::size_t setup;     ///< accesses by which the hypervisor sets it up, before its first byte
};
constexpr Model models[] = {{"pl011", 0x00, 0x18, 6}, {"imx.serial", 0x40, 0xb4, 9}};

const Model* model_of(const std::string& name) {
    const auto* const found = std::ranges::find(models, name, &Model::name);
    return found == std::end(models) ? nullptr : found;
}

constexpr std::uint64_t register_size = 4;

/// Finds the stream's accesses in the lines of one UART, in their order.
class Finder {
public:
    explicit Finder(std::uint64_t base) : base_(base) {}

    /// Line `number` of the log. Appends those that turn out to be the stream's to `found`.
    void take(const importing::Line& line, const Model& model, std::size_t number,
              std::vector<std::size_t>& found) {
        const std::uint64_t offset = line.address - base_;
        std::size_t& look = looks_[line.cpu];
        if (line.write && offset - model.data < register_size) {
            const auto owner = splitter_.take(static_cast<std::uint8_t>(line.value));
            if (owner != abi::shared_wire::Owner::console) {
                if (look != none) {
                    add_setup(look - 1, model.setup, found);
                    found.push_back(look - 1);
                }
                found.push_back(number);
            }
        }
        if (!begun_) {
            before_.push_back(number);
        }
        const bool looks = !line.write && offset == model.status && line.size == register_size;
        look = looks ? number + 1 : none;
    }

private:
    static constexpr std::size_t none = 0;

    /// Directly before the first byte, for which line `look` made sure that there is room.
    void add_setup(std::size_t look, std::size_t lines, std::vector<std::size_t>& found) {
        if (!begun_) {
            const auto end = std::ranges::find(before_, look);
            const auto count = std::min(static_cast<std::ptrdiff_t>(lines), end - before_.begin());
            found.insert(found.end(), end - count, end);
        }
        begun_ = true;
    }

    std::uint64_t base_;
    bool begun_ = false;              ///< a byte of the stream was sent
    std::vector<std::size_t> before_; ///< the lines up to then
    abi::shared_wire::Splitter splitter_;
    /// By CPU: its last line here, plus 1, if it read whether there is room.
    std::map<int, std::size_t> looks_;
};

} // namespace

void leave_out_shared(importing::AccessLog& log, std::span<const abi::RegionEntry> regions) {
    for (const abi::RegionEntry& region : regions) {
        if ((region.flags & abi::region_shared) == 0) {
            continue;
        }
        Finder finder(region.base);
        std::vector<std::size_t> found;
        for (std::size_t number = 0; number < log.lines.size(); ++number) {
            const importing::Line& line = log.lines[number];
            if (line.address - region.base >= region.size) {
                continue;
            }
            if (const Model* const model = model_of(log.regions[line.region])) {
                finder.take(line, *model, number, found);
            }
        }
        std::ranges::sort(found);
        log.of_stream += found.size();
        std::size_t number = 0;
        auto next = found.begin();
        std::erase_if(log.lines, [&](const importing::Line&) {
            const bool here = next != found.end() && *next == number;
            next += here ? 1 : 0;
            ++number;
            return here;
        });
    }
}

} // namespace mmioscope::verify
