#include "tree/device_tree.hpp"

#include "abi/flat_tree.hpp"
#include "system/error.hpp"
#include "system/open_source.hpp"

#include <fmt/format.h>
#include <libfdt.h>

#include <cstring>
#include <string_view>

namespace mmioscope::tree {

bool tree_is_sound(std::span<const std::byte> tree) {
    return abi::properties_end(tree.data(), tree.size()) &&
           fdt_check_full(tree.data(), tree.size()) == 0;
}

std::vector<std::byte> read_tree(const std::string& path) {
    constexpr std::size_t most = 16u << 20;
    const std::unique_ptr<ByteSource> source = open_source(path);
    std::vector<std::byte> tree(most);
    tree.resize(source->read(tree.data(), tree.size()));
    if (!tree_is_sound(tree)) {
        const std::string known = known_or(tree, "");
        throw bad_input("{}: this is not a flattened device tree{}", path,
                        known.starts_with(": it is a device") ? " as a whole: cut off or damaged"
                                                              : known);
    }
    if (const std::string known = known_tree(tree); !known.empty()) {
        throw bad_input("{}: this is {}", path, known);
    }
    return tree;
}

Aliases aliases(std::span<const std::byte> tree) {
    Aliases found;
    if (!tree_is_sound(tree)) {
        return found;
    }
    const int node = fdt_path_offset(tree.data(), "/aliases");
    if (node < 0) {
        return found;
    }
    int property = 0;
    fdt_for_each_property_offset(property, tree.data(), node) {
        if (found.size() == most_aliases) {
            break;
        }
        const char* name = nullptr;
        int length = 0;
        const void* value = fdt_getprop_by_offset(tree.data(), property, &name, &length);
        if (value != nullptr && length > 0) {
            const char* path = static_cast<const char*>(value);
            found[name] = std::string(path, ::strnlen(path, static_cast<std::size_t>(length)));
        }
    }
    return found;
}

namespace {

using namespace std::string_view_literals;

struct Kind {
    std::size_t at; ///< of `magic`; anywhere: in the first 4096 bytes
    std::string_view magic;
    std::string_view what;
};

constexpr std::size_t anywhere = std::string_view::npos;
constexpr char fit[] = "a FIT image: `dumpimage -l FILE` numbers its parts, `dumpimage -T flat_dt "
                       "-p NUMBER -o PART FILE` takes one out";

constexpr Kind kinds[] = {
    {0, "\x1f\x8b\x08"sv, "compressed: `zcat FILE >PLAIN`"},
    {0, "BZh"sv, "compressed: `bzcat FILE >PLAIN`"},
    {0, "\xfd\x37zXZ"sv, "compressed: `xzcat FILE >PLAIN`"},
    {0, "\x5d\0\0"sv, "compressed: `lzcat FILE >PLAIN`"},
    {0, "\x28\xb5\x2f\xfd"sv, "compressed: `zstdcat FILE >PLAIN`"},
    {0, "\x04\x22\x4d\x18"sv, "compressed: `lz4cat FILE >PLAIN`"},
    {0, "\x02\x21\x4c\x18"sv, "compressed: `lz4cat FILE >PLAIN`"},
    {0, "\x89LZO"sv, "compressed: `lzop -dc FILE >PLAIN`"},
    {0, "PK\x03\x04"sv, "a zip archive: `unzip FILE`"},
    {257, "ustar"sv, "a tar archive: `tar -xf FILE`"},
    {0, "!<arch>\n"sv, "a package: `dpkg-deb -x FILE FOLDER`"},
    {0, "ANDROID!"sv, "an Android boot image: `unpack_bootimg --boot_img FILE`"},
    {56, "ARM\x64"sv, "a kernel for 64-bit Arm, which mmioscope does not trace"},
    {0, "070701"sv, "a ramdisk: `--initrd FILE`"},
    {0,
     "\x7f"
     "ELF"sv,
     "an ELF file: of a kernel take arch/arm/boot/zImage, and give this to `--symbols`; a "
     "bare-metal program needs `--bare`"},
    {0, "MMIOSCOP"sv, "a trace: `mmioscope print FILE`"},
    {0, "\xff\xfe"sv, "text in UTF-16: `iconv -f UTF-16 -t UTF-8 FILE >PLAIN`"},
    {8, "\xb4\x29\xa4\x0a\xcb\x77\xb1\xf2"sv,
     "a log of QEMU's backend `simple`: take a QEMU with the backend `log`"},
    {3, "tracing"sv, "a trace of trace-cmd: `trace-cmd report FILE`"},
    {0, "PERFILE2"sv, "a trace of perf: `perf script -i FILE`"},
    {anywhere, "/dts-v1/;"sv, "the source of a device tree: `dtc -O dtb -o BOARD.dtb FILE`"},
    {0, "VERSION 20070824"sv,
     "a log of mmiotrace: `mmioscope import --as mmiotrace FILE -o TRACE`"},
    {anywhere, "memory_region_ops_"sv, "QEMU's log: `mmioscope import --as qemu FILE -o TRACE`"},
};

// U-Boot's include/image.h, legacy images.
std::string uimage(std::string_view text) {
    constexpr std::size_t type_at = 30;
    const char type = text.size() > type_at ? text[type_at] : '\0';
    return fmt::format("an image with U-Boot's header: `dumpimage -T {} -p 0 -o PLAIN FILE`",
                       type == 3   ? "ramdisk"
                       : type == 4 ? "multi"
                       : type == 8 ? "flat_dt"
                                   : "kernel");
}

} // namespace

std::string known_tree(std::span<const std::byte> tree) {
    if (!tree_is_sound(tree)) {
        return {};
    }
    const auto has = [&tree](const char* path) { return fdt_path_offset(tree.data(), path) >= 0; };
    if (has("/images")) {
        return fit;
    }
    const int first = fdt_first_subnode(tree.data(), 0);
    const bool fragment = first >= 0 && fdt_subnode_offset(tree.data(), first, "__overlay__") >= 0;
    return fragment || has("/__fixups__")
               ? "an overlay: apply it first, `fdtoverlay -i BOARD.dtb -o NEW.dtb FILE`"
               : "";
}

std::string known_file(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.starts_with("\x27\x05\x19\x56"sv)) {
        return uimage(text);
    }
    if (text.starts_with("\xd0\x0d\xfe\xed"sv)) {
        const std::string tree = known_tree(bytes);
        return tree.empty() ? "a device tree: `mmioscope plan FILE`" : tree;
    }
    const std::string_view head = text.substr(0, 4096);
    for (const Kind& kind : kinds) {
        if (kind.at == anywhere
                ? head.find(kind.magic) != head.npos
                : head.size() > kind.at && head.substr(kind.at).starts_with(kind.magic)) {
            return std::string(kind.what);
        }
    }
    return {};
}

std::string known_or(std::span<const std::byte> bytes, const std::string& otherwise) {
    const std::string known = known_file(bytes);
    return known.empty() ? otherwise : ": it is " + known;
}

} // namespace mmioscope::tree
