
# Names that only the server knows; without it there are none.
_moothall_known() {
    _moothall "$@"
    local word="${COMP_WORDS[COMP_CWORD]}" found name
    [[ $word == -?* ]] && return 0
    mapfile -t found < <("${COMP_WORDS[0]}" complete -- moothall "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    ((${#found[@]})) || return 0
    COMPREPLY=()
    for name in "${found[@]}"; do
        if [[ $word == [\"\']* ]]; then COMPREPLY+=("$name"); else COMPREPLY+=("$(printf %q "$name")"); fi
    done
}
complete -F _moothall_known -o bashdefault -o default moothall
