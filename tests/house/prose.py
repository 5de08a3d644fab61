# prose.py <include folder> <rooms> <unfinished headers> <allow list> < words: see prose.sh.
import pathlib
import re
import sys

WORDS_MAX = 30
COLUMNS_MAX = 120


def split(line):
    """A line of C++ as (code with its literals blanked, the column of its comment or None). Raw strings there are none."""
    code, i, quote = "", 0, None
    while i < len(line):
        c = line[i]
        if quote:
            if c == "\\":
                code, i = code + "  ", i + 2
                continue
            code, quote = code + (c if c == quote else " "), None if c == quote else quote
        elif line.startswith("//", i):
            return code, i
        else:
            if c == '"' or (c == "'" and not re.search(r"[0-9a-fA-F]$", code)):
                quote = c
            code += c
        i += 1
    return code, None


class Block:
    """Comment lines of one kind that belong together."""

    def __init__(self, line, mark, lone):
        self.line, self.mark, self.lone, self.texts = line, mark, lone, []


def comments(lines):
    """The comments of a file, and its code: line for line, without comments, literals, preprocessor lines and lists of fields."""
    found, code, directive, macro = [], [], False, 0
    for number, line in enumerate(lines, 1):
        text, at = split(line)
        directive = directive or text.lstrip().startswith("#")
        listed = not directive and (macro or re.match(r"ALLOT_\w+\(", text))
        code.append("" if directive or listed else text)
        if listed:
            macro += text.count("(") - text.count(")")
        directive = directive and line.endswith("\\")
        if at is None:
            continue
        mark = re.match(r"///<|///(?!/)|//", line[at:]).group()
        lone = text.strip() == ""
        last = found[-1] if found else None
        if not (lone and last and last.mark == mark and last.line + len(last.texts) == number
                and (last.lone or mark != "///")):
            found.append(Block(number, mark, lone))
        found[-1].texts.append(line[at + len(mark):])
    return found, code


def sentences(block):
    """(line, number of words) of each sentence of a block."""
    out, words, begin = [], 0, None

    def end():
        nonlocal words, begin
        if words:
            out.append((begin, words))
        words, begin = 0, None

    text = [re.sub(r"^ ", "", t) for t in block.texts]
    for number, line in enumerate(text, block.line):
        if not line.strip() or re.match(r"   |\||`[^`]*`[.,;:]?$", line):
            end()
            continue
        if re.match(r"@|- |\d+\. ", line):
            end()
        for word in re.sub(r"`[^`]*`", "code", line).split():
            if re.search(r"\w", word):
                words, begin = words + 1, begin or number
            if re.search(r"[.!?:;][)\"']*$", word):
                end()
    end()
    return out


class Scope:
    def __init__(self, kind, name="", public=True, doc=""):
        self.kind, self.name, self.public, self.doc = kind, name, public, doc


class Function:
    def __init__(self, line, name, owner, head, doc, class_doc, body):
        self.line, self.name, self.owner, self.head = line, name, owner, head
        self.doc, self.class_doc, self.bodies = doc, class_doc, [body] if body else []


def without_templates(head):
    """A declaration without its template parameters and constraints."""
    head = head.strip()
    while True:
        start = re.match(r"template\s*<", head)
        if not start:
            break
        depth, i = 1, start.end()
        while i < len(head) and depth:
            # Neither the arrow of a return type nor a comparison closes a list.
            depth += (head[i] == "<") - (head[i] == ">" and head[i - 1] != "-")
            i += 1
        head = head[i:].strip()
        start = re.match(r"requires\s*\(", head)
        if start:
            depth, i = 1, start.end()
            while i < len(head) and depth:
                depth += (head[i] == "(") - (head[i] == ")")
                i += 1
            head = head[i:].strip()
        else:
            head = re.sub(r"^requires\s+[\w:]+(<[^()]*?>)?(\s*(&&|\|\|)\s*[\w:]+(<[^()]*?>)?)*\s+(?=\S)", "", head)
    return re.sub(r"\[\[.*?\]\]|\b(explicit|noexcept|alignas|requires)\s*\([^()]*\)", " ", head)


def name_of(head):
    """(owner, name) of the function that a head declares, or None."""
    head = without_templates(head)
    if re.match(r"$|(using|typedef|concept|static_assert|ALLOT_\w+)\b", head):
        return None
    found = re.search(r"(?:(\w+)\s*(?:<[^()]*>)?\s*::\s*)?(operator\s*(?:\(\)|[^\s\w(]+|[\w:]+)|~?\w+)\s*\(", head)
    if not found or "=" in re.sub(r"operator\S*", "", head[:found.start()]):
        return None
    if found.group(2) in ("decltype", "requires", "noexcept"):
        return None
    return found.group(1) or "", found.group(2)


def functions(blocks, code):
    """The public functions at class or namespace scope, and the definitions outside a class that belong to some."""
    docs = {b.line + len(b.texts): " ".join(b.texts) for b in blocks if b.mark == "///" and b.lone}
    text = "\n".join(code)
    found, outside, scopes = [], [], [Scope("namespace")]
    head, begin, line, i = "", 1, 1, 0

    def skip(i):
        """Behind the brace that closes the one at i, and the lines between."""
        depth, start = 0, i
        while i < len(text):
            depth += (text[i] == "{") - (text[i] == "}")
            i += 1
            if not depth:
                break
        return i, text.count("\n", start, i)

    def take(body):
        named = name_of(head)
        if named:
            scope = scopes[-1]
            doc = docs.get(begin, "")
            if named[0] and scope.kind == "namespace":
                outside.append((named, body))
            elif all(s.public for s in scopes):
                found.append(Function(begin, named[1], scope.name, without_templates(head), doc,
                                      " ".join(s.doc for s in scopes), body))

    depth = 0
    while i < len(text):
        c = text[i]
        if c == "\n":
            line += 1
        if not head.strip():
            if not c.isspace():
                begin = line
        if c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        if c == "{" and depth == 0:
            bare = without_templates(head)
            # Braces after `requires` or `requires(...)` are an expression, unless that is a constraint behind the parameters
            # of a function, whose body they then are.
            last = head.rfind("requires")
            asked = last >= 0 and re.fullmatch(r"requires\s*(\(.*\))?\s*", head[last:], re.DOTALL)
            expression = asked and (not asked.group(1) or re.search(r"\brequires\s*$", head[:last]) or not name_of(head[:last]))
            if re.match(r"concept\b", bare) or expression:
                i, lines = skip(i)
                head, line = head + " ", line + lines
                continue
            if re.match(r"(inline\s+)?namespace\b", bare):
                name = re.sub(r"(inline|namespace)", "", bare).strip()
                scopes.append(Scope("namespace", name, name != "detail"))
                head, i = "", i + 1
                continue
            if re.match(r"enum\b", bare):
                i, lines = skip(i)
                line += lines
                continue
            kind = re.match(r"(friend\s+)?(class|struct|union)\s+(?:ALLOT_\w+\s+)?(\w+)", bare)
            if kind and not re.search(r"\w\s*\(", bare):
                scopes.append(Scope("class", kind.group(3), kind.group(2) != "class", docs.get(begin, "")))
                head, i = "", i + 1
                continue
            initialiser = re.search(r"\)\s*(noexcept)?\s*:[^:]", bare) and re.search(r"[\w>]\s*$", head)
            assigned = re.search(r"[^=!<>]=[^=]", re.sub(r"operator\S*|\([^()]*\)", "", bare) + " ")
            if initialiser or assigned or not name_of(head):
                i, lines = skip(i)
                head, line = head + " {} ", line + lines
                continue
            start = i
            i, lines = skip(i)
            take(text[start:i])
            head, line = "", line + lines
            continue
        if c == "}" and depth == 0:
            if len(scopes) > 1:
                scopes.pop()
            head = ""
        elif c == ";" and depth == 0:
            take("")
            head = ""
        else:
            head += c
            label = re.match(r"\s*(public|private|protected)\s*:$", head)
            if label and text[i + 1:i + 2] != ":":
                scopes[-1].public = label.group(1) == "public"
                head = ""
        i += 1
    return found, outside


LOOPS = re.compile(r"\b(for|while)\s*\(|\bstd::(ranges::)?(sort|stable_sort|find)|\bpush_back\b")


def lacks(function):
    """The kinds of sentence that a function's block lacks."""
    body = " ".join(function.bodies)
    doc = function.doc
    itself = re.search(r"(?<![\w.:>~])" + re.escape(function.name) + r"\s*\(", body) if function.name[0].isalpha() else None
    if (LOOPS.search(body) or itself) and "@complexity" not in doc + function.class_doc:
        yield "@complexity"
    if re.search(r"->\s*(Events\b|Result\s*<)", function.head) and not re.search(r"[Ee]rror|[Rr]efus", doc):
        yield "error"
    if "ALLOT_ASSERT" in body and "@pre" not in doc:
        yield "@pre"


def main():
    root, rooms, unfinished, allow_list = pathlib.Path(sys.argv[1]), *sys.argv[2:5]
    words = []
    for line in sys.stdin:
        word, instead = line.rsplit("|", 1)
        words.append((re.compile(r"\b(" + word.strip() + r")\b", re.IGNORECASE), instead.strip()))
    allowed = {}
    for line in open(allow_list, encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            file, name, kind, *reason = line.split()
            if not reason:
                sys.exit(f"{allow_list}: no reason: {line.strip()}")
            allowed[file, name, kind] = False

    top = root / "allot"
    files = []
    for room in rooms.split():
        files += (top / room).glob("*.hpp") if room == "." else (top / room).rglob("*.hpp")
    files = [f for f in sorted(files) if str(f.relative_to(top)) not in unfinished.split()]

    faults, all_functions, bodies = [], [], {}
    for file in files:
        name = str(file.relative_to(root))
        lines = file.read_text(encoding="utf-8").split("\n")
        blocks, code = comments(lines)
        for block in blocks:
            # The lines of an event are a row of README.md's table: its addressee may be "everybody".
            row = name.endswith("core/event.hpp") and "Cause:" in "".join(block.texts)
            for number, text in enumerate(block.texts, block.line):
                for word, instead in [] if row else words:
                    for hit in word.finditer(re.sub(r"`[^`]*`", "", text)):
                        faults.append((name, number, f"the word \"{hit.group()}\"; write: {instead}"))
                if len(lines[number - 1]) > COLUMNS_MAX and len(code[number - 1].rstrip()) <= 80:
                    faults.append((name, number, f"a comment of {len(lines[number - 1])} columns, more than {COLUMNS_MAX}"))
            if block.mark != "//":
                for number, count in sentences(block):
                    if count > WORDS_MAX:
                        faults.append((name, number, f"a sentence of {count} words, more than {WORDS_MAX}"))
        inside, outside = functions(blocks, code)
        all_functions += [(name, f) for f in inside]
        for key, body in outside:
            bodies.setdefault(key, []).append(body)
    for name, function in all_functions:
        function.bodies += bodies.get((function.owner, function.name), [])
        if not function.doc:
            continue
        for kind in lacks(function):
            key = name.removeprefix("allot/"), function.name, kind
            if key in allowed:
                allowed[key] = True
            else:
                faults.append((name, function.line, f"`{function.name}` lacks its sentence: {kind}"))
    for key, used in allowed.items():
        if not used and (top / key[0]).exists():
            faults.append((str(allow_list), 0, "allowed for nothing: " + " ".join(key)))
    for name, number, what in sorted(faults):
        print(f"{name}:{number}: {what}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
