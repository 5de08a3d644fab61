# Prints a C++ file without its comments and without what its literals hold, line for line; #include lines stay whole.
# (No raw strings: the headers have none, and tokens.sh would say so.)
{
    if (!inside && $0 ~ /^[ \t]*#[ \t]*include/) {
        sub(/[ \t]*\/[\/*].*$/, "")
        print
        next
    }
    line = $0
    code = ""
    while (length(line) > 0) {
        if (inside) {
            end = index(line, "*/")
            if (end == 0) break
            line = substr(line, end + 2)
            inside = 0
            code = code " "
            continue
        }
        two = substr(line, 1, 2)
        one = substr(line, 1, 1)
        if (two == "//") break
        if (two == "/*") {
            inside = 1
            line = substr(line, 3)
        } else if (one == "\"" || (one == "'" && code !~ /[0-9a-fA-F]$/)) {
            # A quote after a digit parts the digits of a number.
            line = substr(line, 2)
            while (length(line) > 0 && substr(line, 1, 1) != one)
                line = substr(line, substr(line, 1, 1) == "\\" ? 3 : 2)
            line = substr(line, 2)
            code = code one one
        } else {
            code = code one
            line = substr(line, 2)
        }
    }
    print code
}
