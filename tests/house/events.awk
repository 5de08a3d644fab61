# Turns include/allot/core/event.hpp into the table of events: what happened, cause, addressee and fields.
# A doc comment reads "/// What happened. Cause: ... For: ... [Terminal.]" and stands right above its struct.
function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
/^\/\/\/ / {
    line = $0; sub(/^\/\/\/ /, "", line); doc = doc (doc == "" ? "" : " ") line; next
}
/^struct [A-Z]/ && $2 != "Event" {
    body = $0; gsub(/\{\}/, "", body)
    while (body !~ /};/) { getline more; gsub(/\{\}/, "", more); body = body " " more }
    name = $2
    fields = body; sub(/^[^{]*\{/, "", fields); sub(/};.*$/, "", fields)
    n = split(fields, parts, ";"); list = ""
    for (i = 1; i <= n; i++) {
        part = parts[i]; sub(/=.*/, "", part); part = trim(part)
        if (part == "") continue
        m = split(part, words, " "); list = list (list == "" ? "" : ", ") words[m]
    }
    if (doc !~ /Cause: .* For: /) { print "event.hpp: " name " has no cause or addressee" > "/dev/stderr"; bad = 1 }
    what = doc; sub(/ Cause: .*/, "", what)
    cause = doc; sub(/.* Cause: /, "", cause); sub(/\. For: .*/, "", cause)
    whom = doc; sub(/.* For: /, "", whom); ends = whom ~ /Terminal\./ ? " (ends the task)" : ""; sub(/\..*/, "", whom)
    printf "| `%s` | %s%s | %s | %s | %s |\n", name, what, ends, cause, whom, list
    doc = ""; next
}
{ doc = "" }
END { exit bad }
