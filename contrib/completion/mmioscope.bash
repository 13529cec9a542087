# Completes the command line of mmioscope in bash: commands, options, the words an option takes, files.
# Of a trace that stands on the line it knows the devices, registers and functions.
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

# What the cursor stands at, as `stat --by` calls it: in a filter, behind --dev, or where a command takes a device. $1 is
# the line up to the cursor.
_mmioscope_kind() {
    REPLY=''
    if [[ $1 =~ (^|[^a-z])(dev|device|reg|register|func|function|caller)[=!]=[^\ ]*$ ]]; then
        case ${BASH_REMATCH[2]} in dev*) REPLY=device ;; reg*) REPLY=register ;; func*) REPLY=function ;; *) REPLY=caller ;; esac
    elif [ "$previous" = --dev ] || { [ "$COMP_CWORD" = 2 ] && [[ $command == @(regs|gen) && $current != -* ]]; }; then
        REPLY=device
    fi
}

# The names of kind $2 that were accessed in the trace on the line, which is read once in each shell, for at most 5 seconds.
_mmioscope_names() {
    local key
    _mmioscope_trace
    [ -n "$REPLY" ] || return
    key="$2 of $REPLY $(stat -c %Y:%s -- "$REPLY")"
    if [ -z "${_mmioscope_help[$key]+asked}" ]; then
        # A register's name stands behind its device's, a module's behind its function's.
        _mmioscope_help[$key]=$(timeout 5 "$1" stat --by "$2" --limit 0 --format csv "$REPLY" 2>/dev/null </dev/null |
            sed -E "1d; s/^[^,]*,//; s/,.*//; $([ "$2" = register ] && echo 's/^[^ ]* //;') s/ .*//; /^[-+0(]/d" | sort -u)
    fi
    REPLY=${_mmioscope_help[$key]}
}

_mmioscope() {
    local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} words REPLY line=${COMP_LINE-} stem='' value=${current##*=}
    program=${program/#\~\//$HOME/}
    COMPREPLY=()
    _mmioscope_kind "${line:0:${COMP_POINT-0}}"
    [ -z "$REPLY" ] || _mmioscope_names "$program" "$REPLY"
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
