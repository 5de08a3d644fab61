# Prints each fault of a text in Prometheus' exposition format 0.0.4, and ends with status 1 if there is one.
function fault(text) { print FILENAME ": line " FNR ": " text; bad = 1 }
function close_family() {
    if (family != "" && type == "histogram") {
        if (last_le != "+Inf") fault(family " has no bucket for +Inf")
        if (last_bucket != count || !sum_seen) fault(family " has a _sum, and a _count that equals its last bucket")
    }
}
/^# HELP / {
    close_family()
    family = $3; type = ""; last_le = ""; last_bucket = 0; count = -1; sum_seen = 0
    if (family !~ /^[a-zA-Z_:][a-zA-Z0-9_:]*$/) fault("no name of a metric: " family)
    if (family in seen) fault(family " stands twice")
    if (NF < 4) fault(family " has no words of help")
    seen[family] = 1
    next
}
/^# TYPE / {
    type = $4
    if ($3 != family) fault("TYPE of " $3 " does not follow its HELP")
    if (type !~ /^(counter|gauge|histogram)$/) fault("no type: " type)
    if ((type == "counter") != (family ~ /_total$/)) fault(family ": counters, and they alone, end in _total")
    next
}
{
    if ($0 !~ /^[a-zA-Z_:][a-zA-Z0-9_:]*({[a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\["\\n])*"(,[a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\["\\n])*")*})? [0-9]+(\.[0-9]+)?$/) {
        fault("no sample: " $0)
        next
    }
    series = $0; sub(/ [^ ]*$/, "", series)
    name = series; sub(/{.*/, "", name)
    value = $NF + 0
    if (series in seen_series) fault(series " stands twice")
    seen_series[series] = 1
    if (type == "") fault(name " has no type")
    if (type != "histogram") {
        if (name != family) fault(name " stands under " family)
    } else if (name == family "_bucket") {
        le = series; sub(/.*le="/, "", le); sub(/".*/, "", le)
        if (last_le == "+Inf" || (last_le != "" && le != "+Inf" && le + 0 <= last_le + 0)) fault("buckets do not ascend at " le)
        if (value < last_bucket) fault("buckets are not cumulative at " le)
        last_le = le; last_bucket = value
    } else if (name == family "_sum") {
        sum_seen = 1
    } else if (name == family "_count") {
        count = value
    } else {
        fault(name " stands under " family)
    }
}
END {
    close_family()
    if (NR == 0) fault("nothing is there")
    exit bad
}
