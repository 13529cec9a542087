#include "diff/finding_tables.hpp"

#include "system/escape.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::diff {

namespace {

using enum table::Look;

table::Cell event_cell(const Side& side) {
    return side.event == 0 ? table::Cell() : table::Cell(side.event);
}

// Both sides are equally wide; on a phone, a finding's cells are below each other.
constexpr char style[] =
    ":root{color-scheme:light dark}body{font:14px/1.4 sans-serif;margin:2em}"
    "table{border-collapse:collapse;width:100%;table-layout:fixed}"
    "td,th{border:1px solid #8886;padding:.3em .6em;text-align:left;vertical-align:top;"
    "overflow-wrap:anywhere}th:first-child{width:4em}"
    "td.a{background:#e0404020}td.b{background:#30a05020}tr.weak{opacity:.75}"
    "code{font:13px monospace;white-space:pre-wrap}"
    "@media(max-width:700px){body{margin:1em}table,tbody,tr,td{display:block}th{display:none}"
    "tr{margin-bottom:1em}}";

std::string side_html(const Side& side) {
    if (side.lines.empty()) {
        return "&mdash;";
    }
    std::string out;
    for (const std::string& line : side.lines) {
        out += fmt::format("<code>{}</code><br>", for_html(line));
    }
    return side.event == 0 ? out : out + fmt::format("<small>event {}</small>", side.event);
}

std::string row_html(const Finding& finding) {
    return fmt::format("<tr class=\"{}\"><td>{}</td><td>{}<br><b>{}</b><br>{}</td><td>{}</td>"
                       "<td class=\"a\">{}</td><td class=\"b\">{}</td></tr>\n",
                       finding.tier == Tier::sure ? "sure" : "weak", tier_text(finding.tier),
                       for_html(finding.device), for_html(finding.reg), for_html(finding.function),
                       for_html(finding.difference), side_html(finding.a), side_html(finding.b));
}

} // namespace

table::Table table_of(std::span<const Finding> findings) {
    table::Table table{{{"tier", "tier", words, 9},
                        {"kind"},
                        {"device", "device", words, 12},
                        {"register", "register", words, 12},
                        {"function", "function", words, 16},
                        {"difference", "difference"},
                        {"count_a"},
                        {"count_b"},
                        {"event_a"},
                        {"event_b"}},
                       {}};
    for (const Finding& finding : findings) {
        table.rows.push_back({std::string_view(tier_text(finding.tier)), finding.kind,
                              finding.device, finding.reg, finding.function, finding.difference,
                              finding.a.count, finding.b.count, event_cell(finding.a),
                              event_cell(finding.b)});
    }
    return table;
}

std::size_t count_sure(std::span<const Finding> findings) {
    const auto is_sure = [](const Finding& finding) { return finding.tier == Tier::sure; };
    return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(), is_sure));
}

std::vector<std::string> notes(const Alike& alike, std::span<const Boot> boots) {
    std::vector<std::string> notes;
    if (alike.builds == Builds::different) {
        notes.push_back("the kernels are of different builds: places within functions are not "
                        "compared");
    }
    for (const Boot& boot : boots) {
        if (boot.left_out > 0) {
            notes.push_back(fmt::format("{}: more different accesses than are kept; {} were not "
                                        "compared",
                                        for_terminal(boot.name), boot.left_out));
        }
    }
    return notes;
}

std::string verdict(std::span<const Finding> findings) {
    const std::size_t sure = count_sure(findings);
    const std::size_t others = findings.size() - sure;
    const std::string rest = others == 0 ? "" : fmt::format("{} less sure", others);
    if (sure == 0) {
        return "same" + (others == 0 ? "" : ", but for " + rest);
    }
    return fmt::format("different: {} sure{}", sure, others == 0 ? "" : ", " + rest);
}

std::string html(std::span<const Finding> findings, const Heading& heading) {
    std::string page =
        fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                    "<meta name=\"viewport\" content=\"width=device-width\">"
                    "<title>mmioscope diff</title><style>{}</style></head><body>\n"
                    "<h1>mmioscope diff</h1>\n",
                    style);
    std::string files;
    for (const std::string& file : heading.a) {
        files += (files.empty() ? "" : ", ") + for_html(file);
    }
    page += fmt::format("<p>A: {}<br>B: {}</p>\n<p>{}</p>\n", files, for_html(heading.b),
                        for_html(heading.verdict.empty() ? verdict(findings) : heading.verdict));
    for (const std::string& note : heading.notes) {
        page += fmt::format("<p>{}</p>\n", for_html(note));
    }
    page += "<table><tr><th>tier</th><th>what</th><th>difference</th><th>A</th><th>B</th></tr>\n";
    for (const Finding& finding : findings) {
        page += row_html(finding);
    }
    return page + "</table></body></html>\n";
}

} // namespace mmioscope::diff
