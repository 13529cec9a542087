#!/bin/bash
# The manual pages from `make man`: well-formed, one for each command, with exactly the options that the command has,
# and examples that use these; their sources, which repeat nothing of --help; and the examples in --help.
# Usage: tests/man/man.sh BUILD
set -u
program=$1/mmioscope
made=$1/man
passed=0 failed=0

result() { # NAME OFFENCES
    if [ -z "$2" ]; then
        passed=$((passed + 1))
        echo "ok man: $1"
    else
        failed=$((failed + 1))
        echo "FAILED man: $1"
        echo "$2" | sed 's/^/    /' | head -n 20
    fi
}

commands() { "$program" --help | sed -n '/^Commands /,$s/^  \([a-z][a-z-]*\).*/\1/p'; }

# -o,--output FILE -> -o and --output, on separate lines.
help_options() { "$program" "$1" --help | sed -nE 's/^  (-[^ ]+).*/\1/p' | sed 's/{[^}]*}//g' | tr ',' '\n' | sort -u; }

# .It Fl o , Fl -output Ar file -> likewise
page_options() { sed -n 's/^\.It Fl/ Fl/p' "$1" | grep -oE 'Fl [^ ]+' | sed 's/^Fl /-/' | sort -u; }

# Options in the page's examples that the command does not have; a backslash continues a line.
unknown_in_examples() {
    sed -n '/^\.Bd/,/^\.Ed/p' "$1" | sed -e ':a' -e '/\\e$/{N;s/\\e\n//;ba' -e '}' | tr '&' '\n' |
        sed -nE 's/^.*mmioscope ([a-z-]+) (.*)/\1 \2/p' | while read -r command rest; do
        # Words in quotes are not options of the command.
        echo "$rest" | sed "s/'[^']*'//g" | grep -oE '(^| )--?[a-zA-Z][a-z-]*' | tr -d ' ' | while read -r option; do
            help_options "$command" | grep -qxe "$option" || echo "$command has no $option"
        done
    done
}

# refused WHAT PAGE WORDS <HELP: checks that no page can be made from these two, and that the reason is given.
refused() {
    local said
    said=$(awk -f docs/man/page.awk "$2" 2>&1 >/dev/null) && said="it was made"
    result "no page $1" "$([[ $said == *"$3"* ]] || echo "$said")"
}
without_line() { "$program" ${2:+"$2"} --help | sed "s/^\(  $1\) .*/\1/"; }

# The help line of the command, and those of its options, commands and formats.
help_lines() {
    "$program" ${1:+"$1"} --help | sed -n -e 1p -e '/^\(Options:\|Commands \)/,/^$/s/^ .\{29\}\(.\)/\1/p' \
        -e '/^FORMAT is/,/^$/s/^ .\{12\}//p'
}

# Those that also occur in a page's source.
repeated() { # PAGE COMMAND
    local text
    text=$(sed 's/^\.[A-Z][a-z] //' "$1" | tr '\n' ' ')
    help_lines "$2" | while read -r line; do grep -qiF -e "$line" <<<"$text" && echo "$1: $line"; done
}

result "pages are well-formed" "$(mandoc -T lint -W warning "$made"/*.[157] 2>&1)"
result "each command has its page" \
    "$(commands | while read -r command; do [ -f "$made/mmioscope-$command.1" ] || echo "$command"; done)"
result "mmioscope.1 lists each command" \
    "$(diff <(commands | sort) <(sed -n 's/^\.It Cm //p' "$made/mmioscope.1" | sort))"
result "mmioscope-export.1 lists each format" \
    "$(diff <("$program" export --help | sed -n 's/^  --as FORMAT:{\(.*\)}.*/\1/p' | tr ',' '\n') \
        <(sed -n 's/^\.It Cm //p' "$made/mmioscope-export.1"))"
result "pages that are referred to are there" \
    "$(sed -n 's/^\.Xr \(mmioscope[^ ]*\) \([0-9]\).*/\1.\2/p' "$made"/* | sort -u |
        while read -r page; do [ -f "docs/man/$page" ] || echo "$page"; done)"
result "no source repeats what --help says" \
    "$(repeated docs/man/mmioscope.1 ""; commands | while read -r command; do
        repeated "docs/man/mmioscope-$command.1" "$command"; done)"
page=docs/man/mmioscope-export.1
refused "where a command has no line of help" docs/man/mmioscope.1 "no line for Cm print" < <(without_line print)
refused "where a field of filters has none" docs/man/mmioscope-filter.7 "no line for Cm time" \
    < <("$program" print -F help | sed 's/^  time .*/  time/')
refused "where an option has none" $page "no line for Fl -strict" < <(without_line --strict export)
refused "where a format has none" $page "no line for Cm jsonl" < <(without_line jsonl export)
refused "with text for an option that is none" $page "It Fl i: --help has none" < <("$program" ctl --help)
result "--help of each command has an example" \
    "$(commands | while read -r command; do
        "$program" "$command" --help | sed '1,/^Examples\?:$/d' | grep -q "^ *mmioscope .*$command" || echo "$command"; done)"
for page in "$made"/mmioscope-*.1; do
    command=$(basename "$page" .1)
    command=${command#mmioscope-}
    result "$command: options are those of --help" "$(diff <(help_options "$command") <(page_options "$page"))"
done
for page in "$made"/*.1; do
    result "$(basename "$page"): examples use options that there are" "$(unknown_in_examples "$page")"
done

# The table of common options in host-tools/cli/README.md: `| command | `-i` | ...`, a cell with words if a command has
# it.
table=host-tools/cli/README.md
columns() { sed -n 's/^| command | \(.*\) |$/\1/p' "$table" | tr -d '` ' | tr '|' '\n'; }
row() { sed -n "s/^| \`$1\` | \(.*\) |\$/\1/p" "$table" | tr -d ' ' | tr '|' '\n'; }
by_table() { paste -d' ' <(columns) <(row "$1") | while read -r option there; do echo "$option ${there:+yes}"; done; }
by_help() { columns | while read -r option; do echo "$option $(help_options "$1" | grep -qxe "$option" && echo yes)"; done; }
result "the table of common options is there" "$([ "$(columns | wc -l)" -ge 10 ] || echo "not in $table")"
for command in $(commands); do
    result "$command: common options are those of the table" "$(diff <(by_table "$command") <(by_help "$command"))"
done

echo "man: $passed passed, $failed failed"
[ "$failed" = 0 ]
