# pages.sh <top folder>
#
# README.md has at most 180 lines of at most 120 columns. The text of docs/ keeps to 120 columns too, its tables and code apart. Each link of these pages to
# a file of the repository leads to one, and each #anchor to a heading or an <a id="..."> of that page.
set -eu
cd "$1"
faults=$(mktemp)
trap 'rm -f "$faults"' EXIT

lines=$(wc -l < README.md)
[ "$lines" -le 180 ] || echo "README.md: $lines lines, more than 180" >> "$faults"

# Columns are characters, not bytes: bytes that go on with a character of UTF-8 do not count.
for page in README.md docs/*.md; do
    LC_ALL=C awk -v page="$page" '
        { text = $0; gsub(/[\200-\277]/, "", text) }
        /^```/ { code = !code }
        length(text) > 120 && (page == "README.md" || !(code || text ~ /^(\||    )/)) {
            printf "%s:%d: %d columns, more than 120\n", page, NR, length(text)
        }' "$page" >> "$faults"
done

# anchors <page>: what #... of a link may name, as the usual renderers make it of headings.
anchors() {
    LC_ALL=C awk '
        /^```/ { code = !code }
        code { next }
        /^#+ / {
            text = tolower($0)
            sub(/^#+ /, "", text)
            gsub(/[^a-z0-9_ \200-\377-]/, "", text)
            gsub(/ /, "-", text)
            print text
        }
        { while (match($0, /<a id="[^"]*"/)) { print substr($0, RSTART + 7, RLENGTH - 8); $0 = substr($0, RSTART + RLENGTH) } }' "$1"
}

for page in README.md CONTRIBUTING.md docs/*.md; do
    folder=$(dirname "$page")
    awk '/^```/ { code = !code } !code' "$page" | grep -oE '\]\([^)]+\)' | sed 's/^](//; s/)$//' | sort -u |
        while read -r link; do
            case $link in
                *://*) continue ;;
                '#'*) file=$page ;;
                *) file=$folder/${link%%#*} ;;
            esac
            if [ ! -e "$file" ]; then
                echo "$page: the link $link leads nowhere"
            elif [ "${link#*#}" != "$link" ] && ! anchors "$file" | grep -Fqx -- "${link#*#}"; then
                echo "$page: the link $link names no heading of $file"
            fi
        done >> "$faults"
done

if [ -s "$faults" ]; then
    cat "$faults"
    exit 1
fi
