# Remove private data from text: paths, except those that are the same on all machines, and the names of user and machine.
function swap(line, word, by,    out, at, before, behind) {
    if (length(word) < 2)
        return line
    while (at = index(line, word)) {
        before = at > 1 ? substr(line, at - 1, 1) : ""
        behind = substr(line, at + length(word), 1)
        out = out substr(line, 1, at - 1) (before ~ /[A-Za-z0-9_]/ || behind ~ /[A-Za-z0-9_]/ ? word : by)
        line = substr(line, at + length(word))
    }
    return out line
}
{
    line = $0
    gsub(/[Pp]rocess [^ ]+ pid/, "process <name> pid", line) # as the driver writes it
    gsub(/[Tt]hread [^ ]+ pid/, "thread <name> pid", line)
    if (home != "" && home != "/")
        line = swap(line, home, "<home>")
    out = ""
    while (match(line, /\/[A-Za-z0-9._+@:~-]+(\/[A-Za-z0-9._+@:~-]+)+/)) {
        path = substr(line, RSTART, RLENGTH)
        out = out substr(line, 1, RSTART - 1) (path ~ /^\/(dev\/(kfd|dri)|sys|opt\/rocm)/ ? path : "<path>")
        line = substr(line, RSTART + RLENGTH)
    }
    line = out line
    if (user != "root")
        line = swap(line, user, "<user>")
    print swap(line, host, "<host>")
}
