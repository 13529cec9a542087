# The statements of a function, one a line, from C++ or from a model.
#
#   awk -v function_=NAME -f source.awk FILE.cpp   the body of the function whose definition begins with NAME(
#   awk -v function_=NAME -f source.awk FILE.pml   what the comments `= text` say behind `source: FILE NAME`

function body_of(text, name,    at, depth, i, c) {
    at = match(text, "(^|[^A-Za-z0-9_.:>])" name "\\([^;{]*\\)[ a-z]*\\{")
    if (!at) return ""
    text = substr(text, at + RLENGTH)
    depth = 1
    for (i = 1; depth > 0 && i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "{") depth++
        if (c == "}") depth--
    }
    return substr(text, 1, i - 2)
}

function said_of(text, name,    at, said) {
    at = index(text, "source: " name " ")
    if (!at) return ""
    text = substr(text, at + length(name) + 9)
    at = index(text, "source: ")
    if (at) text = substr(text, 1, at - 1)
    while (match(text, "/\\* = [^\n]* \\*/")) {
        said = said substr(text, RSTART + 5, RLENGTH - 8) ";"
        text = substr(text, RSTART + RLENGTH)
    }
    return said
}

# Without comments, and however it was wrapped.
function statements(text) {
    gsub(/[ \t\n]+/, " ", text)
    gsub(/[;{}]/, "\n", text)
    gsub(/ *\n */, "\n", text)
    gsub(/\n+/, "\n", text)
    gsub(/^[\n ]+|[\n ]+$/, "", text)
    return text
}

FILENAME !~ /\.pml$/ { sub(/\/\/.*/, "") }
{ all = all $0 "\n" }
END {
    found = FILENAME ~ /\.pml$/ ? said_of(all, function_) : body_of(all, function_)
    if (found == "") exit 1
    print statements(found)
}
