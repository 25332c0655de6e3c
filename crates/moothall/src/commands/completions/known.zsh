
# Names that only the server knows; without it there are none.
(( $+functions[_moothall_known] )) ||
_moothall_known() {
    local -a typed found
    typed=(${(z)LBUFFER})
    [[ $LBUFFER == *[[:space:]] ]] && typed+=('')
    found=(${(f)"$(moothall complete -- "${typed[@]}" 2>/dev/null)"})
    if (( $#found )); then compadd -a found; else _default; fi
}
