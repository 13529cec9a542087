# Completes the command line of mmioscope in bash: commands, options, the words an option takes, files.
# To use it: `. mmioscope.bash`, or put it where bash-completion looks, as "mmioscope". It asks the program itself
# (--help), so that it knows the options of whatever version is there.

declare -gA _mmioscope_help=()

# The help of `mmioscope [COMMAND]`, asked for once in each shell.
_mmioscope_help_of() {
    local key="$1 ${2-}"
    if [ -z "${_mmioscope_help[$key]-}" ]; then
        _mmioscope_help[$key]=$("$1" ${2:+"$2"} --help 2>/dev/null </dev/null)
    fi
    REPLY=${_mmioscope_help[$key]}
}

_mmioscope_commands() {
    _mmioscope_help_of "$1"
    sed -n '/^Subcommands:/,$s/^  \([a-z][a-z-]*\)  .*/\1/p' <<<"$REPLY"
}

_mmioscope_options() {
    _mmioscope_help_of "$1" "$2"
    sed -nE 's/^  (-[^ ]+).*/\1/p' <<<"$REPLY" | sed 's/{[^}]*}//g' | tr ',' '\n'
}

# The words that option $3 takes: those in {a,b,c} on its line.
_mmioscope_words() {
    _mmioscope_help_of "$1" "$2"
    sed -nE 's/^  (-[^ ]+) [^ ]*\{([^}]*)\}.*/\1 \2/p' <<<"$REPLY" | while read -r names words; do
        case ",$names," in *",$3,"*) tr ',' '\n' <<<"$words" ;; esac
    done
}

_mmioscope() {
    local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} words REPLY
    program=${program/#\~\//$HOME/}
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        words=$(_mmioscope_commands "$program")
    elif words=$(_mmioscope_words "$program" "$command" "$previous") && [ -n "$words" ]; then
        :
    elif [[ $current == -* ]]; then
        words=$(_mmioscope_options "$program" "$command")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _mmioscope mmioscope
