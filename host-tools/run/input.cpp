#include "run/input.hpp"

#include "system/error.hpp"
#include "system/file_descriptor.hpp"
#include "tree/device_tree.hpp"

#include <libfdt.h>

#include <cstring>
#include <filesystem>
#include <span>

namespace mmioscope::run {

namespace {

// Documentation/arm/booting.rst and arch/arm/boot/compressed/head.S of Linux.
constexpr std::size_t zimage_magic_at = 0x24;
constexpr std::size_t zimage_start_at = 0x28;
constexpr std::size_t zimage_end_at = 0x2c;
constexpr std::uint32_t zimage_magic = 0x016f'2818;

std::uint32_t word(const Bytes& bytes, std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

} // namespace

Bytes read_input(const std::string& path, const char* what) {
    if (path.empty()) {
        throw bad_input("no {} given (see --help)", what);
    }
    const std::string text = whole_file(path, what);
    const auto bytes = std::as_bytes(std::span(text));
    if (!std::filesystem::is_regular_file(path)) { // QEMU reads it, too
        throw bad_input("{} {} is not a regular file", what, path);
    }
    if (bytes.empty()) {
        throw bad_input("{} {} is empty", what, path);
    }
    return {bytes.begin(), bytes.end()};
}

void check_zimage(const Bytes& kernel, const std::string& path) {
    if (kernel.size() < zimage_end_at + 4 || word(kernel, zimage_magic_at) != zimage_magic) {
        throw bad_input("{} is not an ARM zImage{}", path,
                        tree::known_or(kernel, " (a bare-metal binary needs --bare)"));
    }
    const std::uint32_t size = word(kernel, zimage_end_at) - word(kernel, zimage_start_at);
    if (kernel.size() < size) {
        throw bad_input("{} is truncated: {} of {} bytes", path, kernel.size(), size);
    }
}

// Linux unpacks what is compressed, and takes what it does not know for a file system.
void check_ramdisk(const Bytes& ramdisk, const std::string& path) {
    const std::string known = tree::known_file(ramdisk);
    if (!known.empty() && !known.starts_with("compressed") && !known.starts_with("a ramdisk")) {
        throw bad_input("{} is no ramdisk that Linux unpacks: it is {}", path, known);
    }
}

void check_tree(const Bytes& tree, const std::string& path) {
    if (tree.size() < sizeof(fdt_header) || fdt_magic(tree.data()) != FDT_MAGIC) {
        throw bad_input("{} is not a flattened device tree{}", path, tree::known_or(tree, ""));
    }
    const std::size_t size = fdt_totalsize(tree.data());
    if (tree.size() < size) {
        throw bad_input("{} is truncated: {} of {} bytes", path, tree.size(), size);
    }
    if (!tree::tree_is_sound(tree)) {
        throw bad_input("{} is a damaged device tree", path);
    }
    if (const std::string known = tree::known_tree(tree); !known.empty()) {
        throw bad_input("{} is {}", path, known);
    }
}

void check_board(const Bytes& tree, const std::string& path, const Board& board) {
    const auto differs = [&tree](std::string_view compatible) {
        return fdt_node_check_compatible(tree.data(), 0, std::string(compatible).c_str());
    };
    if (board.compatible.empty() || differs(board.compatible) <= 0) { // negative: the root has none
        return;
    }
    const char* model = fdt_stringlist_get(tree.data(), 0, "model", 0, nullptr);
    const Board* const other =
        board_of_tree([&differs](std::string_view of) { return differs(of) == 0; });
    throw bad_input("{} is the tree of {}, not of {}: --board {}", path,
                    model != nullptr ? model : "another board", board.name,
                    other != nullptr ? other->name : "NAME, which QEMU calls it");
}

} // namespace mmioscope::run
