# Makes a manual page of a source in docs/man/: fills in what --help says, so that no page repeats it.
# Usage: { mmioscope [COMMAND] --help; mmioscope print -F help; } | awk -f docs/man/page.awk PAGE
#
# In the source, `.Nd` alone gets the command's line. A list that begins with one of these comments gets an item for
# each option, command or format there is, in their order; what the source has for an item goes behind its line:
#     .\" options of --help
#     .\" commands of --help
#     .\" formats of --help
#     .\" fields of --help, of filters; columns, of exports; types, of records; numbers: these as rows of a table

function fail(text) {
    print FILENAME ": " text >"/dev/stderr"
    failed = 1
    exit 1
}

# A line of --help as text of a page.
function plain(text) {
    gsub(/\\/, "\\e", text)
    gsub(/(^| )--/, " \\-\\-", text)
    gsub(/ -/, " \\-", text)
    sub(/^ /, "", text)
    return text ~ /^[.']/ ? "\\&" text : text
}

function sentence(text) { return text ~ /[.]$/ ? text : text "." }

function lowered(text) { return tolower(substr(text, 1, 1)) substr(text, 2) }

# FILE -> Ar file; TEXT:{a,b} -> Cm a | b; [LOG] -> Op Ar log
function argument(type) {
    if (match(type, /:[{].*[}]$/)) {
        type = substr(type, RSTART + 2, RLENGTH - 3)
        gsub(/,/, " | ", type)
        return " Cm " type
    }
    sub(/:.*/, "", type)
    if (type ~ /^\[.*\]$/) {
        return " Op Ar " tolower(substr(type, 2, length(type) - 2))
    }
    sub(/^(UINT|INT|FLOAT)$/, "NUMBER", type)
    return type == "" ? "" : " Ar " tolower(type)
}

# Sets head[] and closing[] of the option whose names and argument `left` has, and the place of each name.
function add_option(left,    names, type, i, name) {
    split(left, names, " ")
    type = substr(left, length(names[1]) + 2)
    gsub(/[{][^}]*[}]/, "", names[1])
    if (sub(/ ?REQUIRED$/, "", type)) {
        closing[count] = "It must be given.\n"
    }
    if (match(type, / ?Excludes: .*/)) {
        name = substr(type, RSTART, RLENGTH)
        type = substr(type, 1, RSTART - 1)
        sub(/ ?Excludes: -/, "", name)
        closing[count] = closing[count] "Not with\n.Fl " name " .\n"
    }
    sub(/ [.][.][.]$/, "", type)
    if (match(type, / in \[.*\]$/)) {
        range[count] = substr(type, RSTART + 5, RLENGTH - 6)
        sub(/ - /, " to ", range[count])
        range[count] = " (" range[count] ")"
    }
    for (i = split(names[1], names, ","); i > 0; --i) {
        name = substr(names[i], 2)
        place["options", name] = count
        head[count] = "Fl " name (head[count] == "" ? argument(type) : " , " head[count])
    }
}

function add_item(line,    name) {
    ++count
    kind[count] = section
    if (section == "options") {
        add_option(line)
    } else {
        if (section == "types") {
            number[count] = line + 0
            sub(/^[0-9]+ /, "", line)
        }
        name = line
        sub(/,.*/, "", name)
        place[section, name] = count
        gsub(/,/, " ,", line)
        head[count] = (section ~ /^(columns|types)$/ ? "Ql " : "Cm ") line
    }
}

# The left side ends in front of column 31, or has its line behind it.
function read_help(    line, item) {
    while ((getline line <"-") > 0) {
        if (item != "" && line ~ /^          /) {
            add_item(item)
            help[count] = substr(line, 31)
            item = ""
            continue
        }
        take(item)
        item = ""
        title = title == "" ? line : title
        if (line ~ /^(Options|Commands .*|FORMAT is one of):$/) {
            section = line ~ /^O/ ? "options" : line ~ /^C/ ? "commands" : "formats"
        } else if (line ~ /^(Fields|Columns|Types) of [a-z]+:$/) {
            section = tolower(substr(line, 1, index(line, " ") - 1))
        } else if (line !~ /^  /) {
            section = ""
        } else if (section != "") {
            item = substr(line, 3)
        }
    }
    take(item)
}

function take(item,    left, width) {
    if (item == "") {
        return
    }
    width = section == "formats" ? 11 : 28
    left = substr(item, 1, width)
    sub(/ +$/, "", left)
    add_item(left)
    help[count] = substr(item, width + 1)
}

# The list `wanted`: an item each.
function print_items(wanted,    i, any) {
    for (i = 1; i <= count; ++i) {
        if (kind[i] != (wanted == "numbers" ? "types" : wanted)) {
            continue
        }
        any = 1
        if (help[i] ~ /^ *$/) {
            fail("--help has no line for " head[i])
        }
        if (wanted == "numbers") {
            sub(/^Ql /, "", head[i])
            sub(/ ,.*/, "", head[i])
            printf ".It %d Ta %s Ta %s\n", number[i], head[i], plain(help[i])
            continue
        }
        print ".It " head[i]
        if (wanted == "commands") {
            printf "%s;\n.Xr mmioscope-%s 1\n", plain(lowered(help[i])), substr(head[i], 4)
        } else {
            printf "%s\n%s", sentence(plain(help[i]) range[i]), closing[i]
        }
        printf "%s", added[i]
    }
    if (!any) {
        fail("--help has no " wanted)
    }
}

BEGIN { read_help() }

/^[.]\\" [a-z]+ of --help$/ {
    list = $2
    depth = item = 0
    next
}
list != "" && /^[.]It / && depth == 0 {
    if (!((list, $3) in place)) {
        fail($0 ": --help has none of these " list)
    }
    item = place[list, $3]
    next
}
list != "" && /^[.]El/ && depth-- == 0 {
    print_items(list)
    list = ""
}
list != "" {
    depth += /^[.]Bl/
    if (!item) {
        fail($0 ": stands in front of the first item")
    }
    added[item] = added[item] $0 "\n"
    next
}
$0 == ".Nd" { $0 = ".Nd " lowered(title) }
{ print }

END {
    if (list != "" && !failed) {
        fail("a list does not end")
    }
}
