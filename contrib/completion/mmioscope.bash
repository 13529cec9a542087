# Completes the command line of mmioscope in bash: commands, options, the words an option takes, files.
# In a filter it knows the devices and registers of a trace that stands on the line.
# To use it: `. mmioscope.bash`, or put it where bash-completion looks, as "mmioscope". It asks the program itself
# (--help), so that it knows the options of whatever version is there.

declare -gA _mmioscope_help=()

# The help of `mmioscope [COMMAND]`, asked for once in each shell. Not to be called in $(...), which is another shell.
_mmioscope_help_of() {
    local key="$1 ${2-}"
    if [ -z "${_mmioscope_help[$key]-}" ]; then
        _mmioscope_help[$key]=$("$1" ${2:+"$2"} --help 2>/dev/null </dev/null)
    fi
    REPLY=${_mmioscope_help[$key]}
}

# These three read a help.
_mmioscope_commands() {
    sed -n '/^Commands /,$s/^  \([a-z][a-z-]*\)  .*/\1/p'
}

_mmioscope_options() {
    sed -nE 's/^  (-[^ ]+).*/\1/p' | sed 's/{[^}]*}//g' | tr ',' '\n'
}

# The words that option $1 takes: those in {a,b,c} on its line.
_mmioscope_words() {
    sed -nE 's/^  (-[^ ]+) [^ ]*\{([^}]*)\}.*/\1 \2/p' | while read -r names words; do
        case ",$names," in *",$1,"*) tr ',' '\n' <<<"$words" ;; esac
    done
}

# The trace on the command line: the last word that is a file.
_mmioscope_trace() {
    local i
    REPLY=''
    for ((i = 2; i < ${#COMP_WORDS[@]}; i++)); do
        [ "$i" != "$COMP_CWORD" ] && [ -f "${COMP_WORDS[i]}" ] && REPLY=${COMP_WORDS[i]}
    done
}

# What may stand behind "dev==" or "reg==" in a filter, of what was accessed in the trace on the line, which is read once
# in each shell. $2 is the line up to the cursor.
_mmioscope_names() {
    local field key accessed
    REPLY=''
    [[ $2 =~ (^|[^a-z])(dev|device|reg|register)[=!]=[^\ ]*$ ]] || return
    field=${BASH_REMATCH[2]}
    _mmioscope_trace
    [ -n "$REPLY" ] || return
    key="trace $REPLY $(stat -c %Y:%s -- "$REPLY")"
    if [ -z "${_mmioscope_help[$key]-}" ]; then
        accessed=$("$1" stat --by register --limit 0 --format csv "$REPLY" 2>/dev/null </dev/null)
        _mmioscope_help[$key]=$(sed 1d <<<"$accessed" | cut -d, -f2)
    fi
    case $field in
    dev*) REPLY=$(cut -d' ' -f1 <<<"${_mmioscope_help[$key]}" | sort -u) ;;
    *) REPLY=$(sed -n 's/^[^ ]* \([^+]\)/\1/p' <<<"${_mmioscope_help[$key]}" | sort -u) ;;
    esac
}

_mmioscope() {
    local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} words REPLY line=${COMP_LINE-} stem='' value=${current##*=}
    program=${program/#\~\//$HOME/}
    COMPREPLY=()
    _mmioscope_names "$program" "${line:0:${COMP_POINT-0}}"
    if [ -n "$REPLY" ]; then
        # Bash takes "==" for a word of its own; in quotes it does not.
        [[ $current == [\'\"]*=* ]] && stem=${current%"$value"} stem=${stem:1}
        mapfile -t COMPREPLY < <(compgen -P "$stem" -W "$REPLY" -- "$value")
        return
    fi
    if [ "$COMP_CWORD" = 1 ]; then
        _mmioscope_help_of "$program"
        words=$(_mmioscope_commands <<<"$REPLY")
    elif _mmioscope_help_of "$program" "$command"; words=$(_mmioscope_words "$previous" <<<"$REPLY"); [ -n "$words" ]; then
        :
    elif [[ $current == -* ]]; then
        words=$(_mmioscope_options <<<"$REPLY")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _mmioscope mmioscope
