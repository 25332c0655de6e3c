
# Names that only the server knows; without it there are none.
function __moothall_known
    command moothall complete -- (commandline -opc) (commandline -ct) 2>/dev/null
end
complete -c moothall -a "(__moothall_known)"
