#include "announced.hpp"

#include "abi/control.hpp"
#include "abi/ring.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace mmioscope::guest {

namespace {

const std::string base = "/sys/firmware/devicetree/base";

std::string read_all(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::uint32_t cell(std::string_view bytes, std::size_t n) {
    std::uint32_t value = 0;
    for (const char byte : bytes.substr(4 * n, 4)) {
        value = value << 8 | static_cast<unsigned char>(byte);
    }
    return value;
}

std::vector<std::string> words(const std::string& property) {
    std::vector<std::string> list;
    std::istringstream stream(property);
    for (std::string word; std::getline(stream, word, '\0');) {
        list.push_back(word);
    }
    return list;
}

/// Reads cells of `reg` from `at` on.
std::uint64_t number(const std::string& reg, std::size_t& at, std::uint32_t cells) {
    std::uint64_t value = 0;
    for (std::uint32_t n = 0; n < cells; ++n) {
        value = value << 32 | cell(reg, at++);
    }
    return value;
}

std::optional<PhysicalRange> range_named(const std::string& name) {
    const std::vector<std::string> names = words(read_all(base + "/mmioscope/reg-names"));
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        return std::nullopt;
    }
    const std::uint32_t address_cells = cell(read_all(base + "/#address-cells"), 0);
    const std::uint32_t size_cells = cell(read_all(base + "/#size-cells"), 0);
    const std::string reg = read_all(base + "/mmioscope/reg");
    std::size_t at = static_cast<std::size_t>(found - names.begin()) * (address_cells + size_cells);
    if (address_cells > 2 || size_cells > 2 || reg.size() < 4 * (at + address_cells + size_cells)) {
        throw failure("the device tree's node /mmioscope is damaged");
    }
    const std::uint64_t begin = number(reg, at, address_cells);
    return PhysicalRange{begin, number(reg, at, size_cells)};
}

} // namespace

Announced read_announced() {
    if (!std::filesystem::exists(base + "/mmioscope/compatible")) {
        throw bad_input("no mmioscope hypervisor found: this kernel's device tree has no node "
                        "/mmioscope");
    }
    const std::vector<std::string> compatible = words(read_all(base + "/mmioscope/compatible"));
    const auto has = [&](const char* word) {
        return std::find(compatible.begin(), compatible.end(), word) != compatible.end();
    };
    Announced announced;
    if (has(abi::control::compatible)) {
        announced.control = range_named("control");
    }
    if (has(abi::readable_compatible)) {
        announced.trace = range_named("trace");
    }
    return announced;
}

std::vector<std::byte> device_tree() {
    const std::string text = read_all("/sys/firmware/fdt");
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return {bytes, bytes + text.size()};
}

std::vector<std::pair<std::string, std::string>> device_tree_aliases() {
    std::vector<std::pair<std::string, std::string>> all;
    std::error_code none;
    for (const auto& file : std::filesystem::directory_iterator(base + "/aliases", none)) {
        const std::vector<std::string> path = words(read_all(file.path()));
        if (!path.empty()) {
            all.emplace_back(file.path().filename(), path.front());
        }
    }
    std::sort(all.begin(), all.end());
    return all;
}

std::string read_text(const std::string& path) {
    std::string text = read_all(path);
    while (!text.empty() && text.back() == '\n') {
        text.pop_back();
    }
    return text;
}

} // namespace mmioscope::guest
