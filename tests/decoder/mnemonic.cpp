#include "mnemonic.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>

namespace mmioscope::decoder_test {

namespace {

/// What the operands must show.
enum class Shape { one, listed, vector, elements, unknown };

struct Mnemonic {
    bool load;
    bool store;
    unsigned size;  ///< of one access
    unsigned count; ///< number of accesses; 0: from the operands
    Shape shape;
};

const std::unordered_map<std::string_view, Mnemonic>& table() {
    static const auto mnemonics = [] {
        std::unordered_map<std::string_view, Mnemonic> m;
        const auto both = [&](std::string_view load, std::string_view store, unsigned size,
                              unsigned count, Shape shape) {
            m[load] = {true, false, size, count, shape};
            if (!store.empty()) m[store] = {false, true, size, count, shape};
        };
        for (const auto& [load, store, size] : {std::tuple{"ldr", "str", 4u},
                                                {"ldrb", "strb", 1u},
                                                {"ldrh", "strh", 2u},
                                                {"ldrsb", "", 1u},
                                                {"ldrsh", "", 2u},
                                                {"ldrt", "strt", 4u},
                                                {"ldrbt", "strbt", 1u},
                                                {"ldrht", "strht", 2u},
                                                {"ldrsbt", "", 1u},
                                                {"ldrsht", "", 2u},
                                                {"ldrex", "strex", 4u},
                                                {"ldrexb", "strexb", 1u},
                                                {"ldrexh", "strexh", 2u}})
            both(load, store, size, 1, Shape::one);
        for (const auto& [load, store] : {std::pair{"ldrd", "strd"},
                                          {"ldrexd", "strexd"},
                                          {"rfeia", "srsia"},
                                          {"rfeib", "srsib"},
                                          {"rfeda", "srsda"},
                                          {"rfedb", "srsdb"}})
            both(load, store, 4, 2, Shape::one);
        for (const auto& [load, store] : {std::pair{"ldm", "stm"},
                                          {"ldmia", "stmia"},
                                          {"ldmib", "stmib"},
                                          {"ldmda", "stmda"},
                                          {"ldmdb", "stmdb"},
                                          {"ldmfd", "stmfd"},
                                          {"pop", "push"}})
            both(load, store, 4, 0, Shape::listed);
        for (const auto& [load, store] : {std::pair{"vldmia", "vstmia"},
                                          {"vldmdb", "vstmdb"},
                                          {"vpop", "vpush"},
                                          {"fldmiax", "fstmiax"},
                                          {"fldmdbx", "fstmdbx"},
                                          {"vldr", "vstr"}})
            both(load, store, 4, 0, Shape::vector);
        for (const auto& [load, store] :
             {std::pair{"vld1", "vst1"}, {"vld2", "vst2"}, {"vld3", "vst3"}, {"vld4", "vst4"}})
            both(load, store, 0, 0, Shape::elements);
        for (const auto& [load, store] :
             {std::pair{"ldc", "stc"}, {"ldcl", "stcl"}, {"ldc2", "stc2"}, {"ldc2l", "stc2l"}})
            both(load, store, 4, 0, Shape::unknown);
        m["swp"] = {true, true, 4, 1, Shape::one};
        m["swpb"] = {true, true, 1, 1, Shape::one};
        m["tbb"] = {true, false, 1, 1, Shape::one};
        m["tbh"] = {true, false, 2, 1, Shape::one};
        return m;
    }();
    return mnemonics;
}

/// The mnemonic without its condition.
const std::pair<const std::string_view, Mnemonic>* find(std::string_view name) {
    static constexpr std::string_view conditions = " eq ne cs cc mi pl vs vc hi ls ge lt gt le al ";
    if (const auto at = table().find(name); at != table().end()) return &*at;
    if (name.size() < 3) return nullptr;
    const std::string condition = " " + std::string(name.substr(name.size() - 2)) + " ";
    if (conditions.find(condition) == conditions.npos) return nullptr;
    const auto at = table().find(name.substr(0, name.size() - 2));
    return at != table().end() ? &*at : nullptr;
}

bool contains(std::string_view text, std::string_view what) {
    return text.find(what) != text.npos;
}

std::string_view between(std::string_view text, char open, char close) {
    const auto begin = text.find(open);
    if (begin == text.npos) return {};
    const auto end = text.find(close, begin);
    return text.substr(begin + 1, end == text.npos ? end : end - begin - 1);
}

unsigned number_in(std::string_view name) {
    unsigned n = 0;
    const auto digits = name.find_first_of("0123456789");
    if (digits != name.npos) std::from_chars(name.data() + digits, name.data() + name.size(), n);
    return n;
}

/// Counts registers in "r0, r2, lr" or "d0-d3" (where a vector's range may run past the last one).
unsigned registers_in(std::string_view list) {
    unsigned count = 0;
    while (!list.empty()) {
        const auto comma = std::min(list.find(','), list.size());
        const std::string_view part = list.substr(0, comma);
        const auto dash = part.find('-');
        if (part.find_first_not_of(' ') != part.npos)
            count += dash == part.npos
                         ? 1
                         : number_in(part.substr(dash)) - number_in(part.substr(0, dash)) + 1;
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return count;
}

/// "!", or an offset after the bracket, but not LDC's option in braces.
bool writes_back(std::string_view operands) {
    return contains(operands, "!") || (contains(operands, "], ") && !contains(operands, "], {"));
}

/// {d0-d3}, {d0[1]}, {d0[]-d1[]}: whole registers, or one structure.
unsigned element_bytes(std::string_view mnemonic, std::string_view operands, unsigned size) {
    const std::string_view list = between(operands, '{', '}');
    if (contains(list, "[")) return static_cast<unsigned>(mnemonic[3] - '0') * size;
    return 8 * registers_in(list);
}

void read_vector(Facts& facts, std::string_view operands) {
    const std::string_view list = between(operands, '{', '}');
    const std::string_view what = list.empty() ? operands : list;
    facts.bytes = (list.empty() ? 1 : registers_in(list)) * (what.starts_with('d') ? 8u : 4u);
}

/// "vld1.16": the elements' size; 64-bit elements are accessed by words.
unsigned suffix_bytes(std::string_view suffix) {
    return std::min(number_in(suffix) / 8, 4u);
}

bool names_pc(std::string_view name, std::string_view operands) {
    if (name.starts_with("rfe") || name.starts_with("tb")) return true;
    const std::string_view list = between(operands, '{', '}');
    if (contains(operands, "{")) return !name.starts_with('v') && contains(list, "pc");
    const char end = name.starts_with("swp") ? ',' : '['; // SWP's second register is stored
    const std::string_view registers = operands.substr(0, operands.find(end));
    return !name.starts_with('v') && (contains(registers, "pc") || contains(registers, "r15"));
}

} // namespace

Facts read_line(std::string_view line, unsigned length) {
    Facts facts{.length = length};
    const auto comment = line.find_first_of(";@");
    facts.unpredictable = contains(line, "UNPREDICTABLE");
    const std::string_view code = line.substr(0, comment);
    const auto tab = code.find('\t');
    std::string_view name = code.substr(0, tab);
    std::string_view operands = tab == code.npos ? "" : code.substr(tab + 1);
    const auto dot = name.find('.');
    const std::string_view suffix = dot == name.npos ? "" : name.substr(dot + 1);
    name = name.substr(0, dot);
    const auto* found = find(name);
    if (found == nullptr || contains(line, "<UNDEFINED>")) return facts;
    const Mnemonic* mnemonic = &found->second;
    facts.mnemonic = found->first;
    facts.load = mnemonic->load;
    facts.store = mnemonic->store;
    facts.size = mnemonic->size;
    facts.bytes = mnemonic->count * mnemonic->size;
    if (mnemonic->shape == Shape::elements) {
        facts.size = suffix_bytes(suffix);
        facts.bytes = element_bytes(name, operands, number_in(suffix) / 8);
    }
    if (mnemonic->shape == Shape::listed)
        facts.bytes = 4 * registers_in(between(operands, '{', '}'));
    if (mnemonic->shape == Shape::vector) read_vector(facts, operands);
    facts.loads_pc = facts.load && names_pc(name, operands);
    facts.writeback = writes_back(operands) || contains(name, "push") || contains(name, "pop");
    if (facts.writeback && (contains(operands, "[pc") || contains(operands, "pc!")))
        facts.loads_pc = true;
    return facts;
}

std::vector<std::string_view> mnemonics_of(Set set) {
    static constexpr std::string_view others[] = {
        // not in Thumb-32, or rarely seen: 16 bits, or modes of ARM alone
        " ldmfd stmfd ldm stm push pop swp swpb ldmib ldmda stmib stmda rfeib rfeda srsib srsda ",
        // not in ARM, rarely seen, or not under that name
        " ldmfd stmfd ldmia tbb tbh "};
    std::vector<std::string_view> all;
    for (const auto& [name, mnemonic] : table())
        if (!contains(others[set == Set::arm], " " + std::string(name) + " ")) all.push_back(name);
    return all;
}

} // namespace mmioscope::decoder_test
