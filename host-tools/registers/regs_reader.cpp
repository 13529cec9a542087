#include "registers/description.hpp"

#include <algorithm>
#include <map>

namespace mmioscope::registers {

namespace {

constexpr std::size_t deepest_block = 4; ///< limit for nested blocks

struct Block {
    std::uint64_t offset;
    IndexedName name;
};

unsigned read_size(RegsLine& line) {
    const std::uint64_t size = line.need_number("a size in bytes");
    if (size != 1 && size != 2 && size != 4 && size != 8) {
        throw line.error("a register has 1, 2, 4 or 8 bytes, not {}", size);
    }
    return static_cast<unsigned>(size);
}

class RegsReader {
public:
    void line(RegsLine& line) {
        const std::string_view first = line.peek();
        if (first.empty()) {
            return;
        }
        if (first[0] == '[') {
            if (!in_register_) {
                throw line.error("a field before any register");
            }
            Register& reg = devices_.back().entries.back().first;
            return read_field(line, reg.size * 8, reg.fields);
        }
        in_register_ = false;
        if (first[0] >= '0' && first[0] <= '9') {
            return read_register(line);
        }
        using Reads = void (RegsReader::*)(RegsLine&);
        static const std::map<std::string_view, Reads> directives = {
            {"device", &RegsReader::start_device}, {"block", &RegsReader::start_block},
            {"end", &RegsReader::end_block},       {"include", &RegsReader::include},
            {"svd", &RegsReader::include},
        };
        if (const auto found = directives.find(first); found != directives.end()) {
            (this->*found->second)(line);
        } else if (first == "compatible") {
            line.word();
            do {
                device(line).compatible.emplace_back(line.need("a compatible string"));
            } while (!line.peek().empty());
        } else if (first == "reg") {
            line.word();
            device(line).reg_index =
                static_cast<unsigned>(line.need_number("the index of a reg entry"));
        } else if (first == "prefix") {
            line.word();
            device(line).prefix = line.need("the prefix of names");
        } else if (first == "size") {
            line.word();
            (void)device(line);
            size_ = read_size(line);
        } else {
            throw line.error("'{}' is neither a directive nor an offset", first);
        }
        line.finish();
    }

    std::vector<Description> finish() {
        finish_device();
        return std::move(devices_);
    }

private:
    Description& device(const RegsLine& line) {
        if (devices_.empty()) {
            throw line.error("'device NAME' must come first");
        }
        return devices_.back();
    }

    void start_device(RegsLine& line) {
        finish_device();
        line.word();
        Description description;
        description.name = indexed_name(line, line.need("the device's name")).before;
        description.title = line.description();
        description.where = line.where();
        devices_.push_back(std::move(description));
        size_ = 4;
    }

    void start_block(RegsLine& line) {
        (void)device(line);
        line.word();
        Block block{std::min(line.need_number("an offset"), address_space), {}};
        block.name = indexed_name(line, line.need("the prefix of the block's names"));
        if (line.peek() == "step") {
            line.word();
            block.name.series.step = line.need_number("a step in bytes");
        }
        if (block.name.indexed && block.name.series.step == 0) {
            throw line.error("a block with indices needs a step");
        }
        if (blocks_.size() == deepest_block) {
            throw line.error("more than {} nested blocks", deepest_block);
        }
        block_where_ = line.where();
        blocks_.push_back(std::move(block));
    }

    void end_block(RegsLine& line) {
        line.word();
        if (blocks_.empty()) {
            throw line.error("'end' without a block");
        }
        blocks_.pop_back();
    }

    void include(RegsLine& line) {
        Inclusion inclusion;
        inclusion.where = line.where();
        if (line.word() == "svd") {
            inclusion.file = line.need("the name of an SVD file");
        }
        inclusion.name =
            line.need(inclusion.file.empty() ? "the name of a device" : "the name of a peripheral");
        if (line.peek() == "at") {
            line.word();
            inclusion.offset = line.need_number("an offset");
        }
        device(line).inclusions.push_back(std::move(inclusion));
    }

    void read_register(RegsLine& line) {
        Description& to = device(line);
        Entry entry;
        entry.line = line.line();
        entry.first.offset = std::min(line.need_number("an offset"), address_space);
        entry.first.size = size_;
        entry.first.description = line.description();
        entry.prefix = to.prefix;
        const IndexedName name = indexed_name(line, line.need("the register's name"));
        std::uint64_t step = 0;
        read_options(line, entry, step);
        place(line, name, step, entry);
        to.entries.push_back(std::move(entry));
        in_register_ = true;
    }

    void read_options(RegsLine& line, Entry& entry, std::uint64_t& step) {
        while (!line.peek().empty()) {
            const std::string_view option = line.word();
            if (option == "r" || option == "w") {
                entry.direction = option == "r" ? Direction::read : Direction::write;
            } else if (option == "size") {
                entry.first.size = read_size(line);
            } else if (option == "step") {
                step = line.need_number("a step in bytes");
            } else if (option == "also") {
                entry.overlaps = true;
            } else if (option == "like") {
                copy_fields(line, line.need("the name of a register"), entry);
            } else if (option == "when") {
                later(line, "a condition such as LCR.DLAB=1");
                entry.when.emplace();
            } else if (option == "indirect") {
                later(line, "the field that chooses, such as MII_CMD.REG");
                devices_.back().later.back().device = line.need("the name of a device");
            } else if (option == "before" && !devices_.back().later.empty() &&
                       devices_.back().later.back().entry == devices_.back().entries.size()) {
                devices_.back().later.back().before.emplace_back(
                    line.need("a condition such as MII_CMD.WRITE=1"));
            } else {
                throw line.error("'{}' is not an option of a register", option);
            }
        }
    }

    void place(const RegsLine& line, const IndexedName& name, std::uint64_t step, Entry& entry) {
        std::string carried;
        const auto add = [&](const IndexedName& part) {
            if (part.indexed) {
                entry.series.push_back(part.series);
                entry.series.back().prefix = carried + part.before;
                carried = part.behind;
            } else {
                carried += part.before;
            }
        };
        for (const Block& block : blocks_) {
            entry.first.offset += block.offset;
            add(block.name);
        }
        add(name);
        if (name.indexed) {
            entry.series.back().step = step == 0 ? entry.first.size : step;
        }
        entry.first.name = carried;
        std::uint64_t end = entry.first.offset + entry.first.size;
        for (const Series& series : entry.series) {
            end += std::min(series.step, address_space) * (series.count - 1);
        }
        if (end > address_space) {
            throw line.error("the register ends beyond 40 bits of address");
        }
    }

    void later(RegsLine& line, std::string_view what) {
        Description& to = devices_.back();
        to.later.push_back({to.entries.size(), std::string(line.need(what)), "", {}, line.where()});
    }

    void copy_fields(const RegsLine& line, std::string_view from, Entry& to) {
        const Entry* other = plain(devices_.back(), from);
        if (other == nullptr) {
            throw line.error("there is no register '{}' before this line", from);
        }
        to.first.fields = other->first.fields;
        to.first.size = other->first.size;
    }

    void finish_device() {
        if (!blocks_.empty()) {
            throw bad_input("{}: the block has no 'end'", block_where_);
        }
    }

    std::vector<Description> devices_;
    std::vector<Block> blocks_;
    unsigned size_ = 4;
    bool in_register_ = false;
    std::string block_where_;
};

} // namespace

std::vector<Description> read_regs(std::string_view text, const std::string& file, unsigned line) {
    RegsReader reader;
    while (!text.empty()) {
        const std::string_view words = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), words.size() + 1));
        RegsLine one(words, file, line++);
        reader.line(one);
    }
    return reader.finish();
}

} // namespace mmioscope::registers
