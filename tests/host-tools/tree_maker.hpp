// Device trees for tests, written node by node.
#pragma once

#include <libfdt.h>

#include "catch_2_or_3.hpp"

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace mmioscope::test {

class TreeMaker {
public:
    explicit TreeMaker(std::vector<std::byte>& to) : fdt_(to.data()) {
        ok(fdt_create(fdt_, static_cast<int>(to.size())));
        ok(fdt_finish_reservemap(fdt_));
    }

    void node(const char* name, const std::function<void()>& inside) {
        ok(fdt_begin_node(fdt_, name));
        inside();
        ok(fdt_end_node(fdt_));
    }

    void numbers(const char* name, const std::vector<std::uint32_t>& values) {
        std::vector<fdt32_t> cells;
        for (const std::uint32_t value : values) {
            cells.push_back(cpu_to_fdt32(value));
        }
        ok(fdt_property(fdt_, name, cells.data(), static_cast<int>(cells.size() * 4)));
    }

    void strings(const char* name, std::initializer_list<const char*> texts) {
        std::string value;
        for (const char* text : texts) {
            value += text;
            value += '\0';
        }
        ok(fdt_property(fdt_, name, value.data(), static_cast<int>(value.size())));
    }

    void cells(std::uint32_t address, std::uint32_t size) {
        numbers("#address-cells", {address});
        numbers("#size-cells", {size});
    }

    void finish(std::vector<std::byte>& to) {
        ok(fdt_finish(fdt_));
        to.resize(fdt_totalsize(fdt_));
    }

private:
    static void ok(int result) { REQUIRE(result == 0); }

    void* fdt_;
};

/// A tree whose root has the content from `inside`, if it fits `room` bytes.
inline std::vector<std::byte> make_tree(const std::function<void(TreeMaker&)>& inside,
                                        std::size_t room = 16384) {
    std::vector<std::byte> tree(room);
    TreeMaker maker(tree);
    maker.node("", [&] { inside(maker); });
    maker.finish(tree);
    return tree;
}

} // namespace mmioscope::test
