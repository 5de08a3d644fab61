"""Pretty printers of allot for gdb. Load them by `source <path of this file>`; `set print pretty on` suits tables.

What is one thing prints as one line, the way <allot/format.hpp> or the JSON form writes it: "relay-7", 7, 0.875, 20000 ms, none,
TaskStarted{lease = Lease{...}, owner = "alice"}. What holds many (lists, tables) has children, with their handles as names.

A debugger is asked about memory before it is initialised and after it is gone, so nothing here trusts a size, and no printer
throws: what makes no sense prints as <unreadable> with the reason.
"""

import itertools
import math
import re

import gdb
import gdb.printing


class Nonsense(Exception):
    """The memory cannot hold what its type says."""


def plain(value):
    """The type of a value, without const and aliases."""
    return value.type.strip_typedefs().unqualified()


def member(value, *paths):
    """The first of these members that there is: libstdc++ and the versions of libc++ have names of their own."""
    for path in paths:
        found = value
        try:
            for name in path.split("."):
                found = found[name]
            return found
        except gdb.error as error:
            last = error
    raise last


# --- What the standard library holds ------------------------------------------------------------------------------


def array_of(value, size):
    elements = member(value, "_M_elems", "__elems_")
    return [int(elements[i]) for i in range(size)]


def optional_of(value):
    """The value inside, or the word that stands for none."""
    if not member(value, "_M_payload._M_engaged", "__engaged_"):
        return "none"
    return member(value, "_M_payload._M_payload._M_value", "__val_")


def vector_of(value):
    """Pointer to the first element, and how many there are."""
    first = member(value, "_M_impl._M_start", "__begin_")
    size = int(member(value, "_M_impl._M_finish", "__end_") - first)
    return first, checked(size, 2**32)


def alternative_of(variant):
    """What the variant holds now."""
    index = int(member(variant, "_M_index", "__impl_.__index", "__impl.__index"))
    try:
        alternative = plain(variant).template_argument(index)
    except (RuntimeError, OverflowError):
        raise Nonsense("no alternative %d" % index) from None
    return member(variant, "_M_u", "__impl_.__data", "__impl.__data").address.cast(alternative.pointer()).dereference()


def checked(size, size_max):
    if not 0 <= size <= size_max:
        raise Nonsense("size %d" % size)
    return size


# --- One thing, one line ------------------------------------------------------------------------------------------


def quoted(text):
    """Text of strangers: as core/printable.hpp, "?" stands for what would steer a terminal or is no UTF-8."""
    shown = "".join(c if c.isprintable() and c != "\ufffd" else "?" for c in bytes(text).decode("utf-8", "replace"))
    shown = '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return shown.encode(gdb.host_charset(), "backslashreplace").decode(gdb.host_charset())


def id_text(value):
    raw = bytes(array_of(value["bytes_"], 32))
    text = raw.rstrip(b"\0")
    if not text:
        return "null"
    if raw[:24] == bytes(23) + b"\1":
        return str(int.from_bytes(raw[24:], "big"))
    return quoted(text) if all(0x20 <= byte < 0x7F for byte in text) else raw.hex()


def u128_of(value):
    return int(value["high_"]) << 64 | int(value["low_"])


def fraction(raw, bits, decimals):
    """A fixed-point number, rounded down as <allot/format.hpp> does."""
    return "%d.%0*d" % (raw >> bits, decimals, (raw & (1 << bits) - 1) * 10**decimals >> bits)


def value_text(value):
    num = int(value["num_high_"]) << 64 | int(value["num_low_"])
    den = int(value["den_"])
    return "%d" % num if den == 1 else "%d/%d" % (num, den)


def stake_root_text(value):
    packed = int(value["packed_"])
    exponent = (packed >> 32) - 64
    if packed == 0:
        return "0"
    if not -31 <= exponent <= 33:
        raise Nonsense("exponent %d" % exponent)
    return "%.11g" % math.ldexp(packed & 0xFFFFFFFF, exponent)  # so many digits tell all mantissas apart


def entropy_text(value):
    words = array_of(value["words"], 4)
    if not any(words[1:]):
        return str(words[0])  # a seed
    return b"".join(word.to_bytes(8, "little") for word in words).hex()


def handle_text(value):
    number = int(value["value"])
    return "none" if number == 0xFFFFFFFF else str(number)


def name_text(value):
    return quoted(char & 0xFF for char in array_of(value["bytes_"], checked(int(value["size_"]), 128)))


def duration_text(value):
    return "%d ms" % int(member(value, "__r", "__rep_"))


def time_point_text(value):
    since = member(value, "__d", "__d_")
    return "never" if int(member(since, "__r", "__rep_")) == 2**63 - 1 else duration_text(since)


def record_text(value):
    """A struct of the public interface with the name of its type, such as Lease{task = 7, ...}."""
    fields = plain(value).fields()
    fields = ["%s = %s" % (field.name, line_of(value[field])) for field in fields if field.name != "hint"]  # of a lease
    return "%s{%s}" % (plain(value).name.split("<")[0].split("::")[-1], ", ".join(fields))


def variant_text(value):
    """An event or a command: a struct whose only base is a std::variant."""
    return line_of(alternative_of(value[plain(value).fields()[0]]))


def line_of(value):
    """A value within a line: without the words that gdb's printer of std::optional puts around it."""
    if re.match(r"std::(\w+::)?optional<", plain(value).name or ""):
        value = optional_of(value)
        if isinstance(value, str):
            return value
    printer = find(value)  # asked here, because another's printer of std::chrono may come first in gdb
    return printer.to_string() if isinstance(printer, Line) else value.format_string()


# --- What holds many: a heading, and pairs of a name and a value -----------------------------------------------------


def elements_of(container):
    """The elements of a container of Boost."""
    holder = container["m_holder"]
    size = checked(int(holder["m_size"]), int(holder["m_capacity"]))
    if size:
        (holder["m_start"] + size - 1).dereference().fetch_lazy()  # memory never initialised leads elsewhere
    return size, (("[%d]" % i, (holder["m_start"] + i).dereference()) for i in range(size))


def list_of(value):
    """A list is a pointer to its counts; the elements follow them. Where they begin, and their number."""
    counts, element = value["block_"], plain(value).template_argument(0)
    if not counts:
        return None, 0
    size = checked(int(counts["size"]), int(counts["room"]))
    offset = max(plain(counts.dereference()).sizeof, element.alignof)
    return gdb.Value(int(counts) + offset).cast(element.pointer()), size


def list_parts(value):
    first, size = list_of(value)
    return "List of %d" % size, (("[%d]" % i, (first + i).dereference()) for i in range(size))


def held_models_parts(value):
    """The same with entries of one type, and behind the room for them the times, if any expires."""
    counts = value["block_"]
    if not counts:
        return "HeldModels of 0", iter(())
    size, room = checked(int(counts["size"]), int(counts["room"])), int(counts["room"])
    first = (counts + 1).cast(gdb.lookup_type(plain(value).name.replace("HeldModels", "HeldModel")).pointer())
    times = (first + room).cast(gdb.lookup_type(plain(value).name.replace("HeldModels", "TimePoint")).pointer())

    def parts():
        for i in range(size):
            yield "[%d]" % i, (first + i).dereference()
            if int(counts["timed"]) and int((times + i).cast(gdb.lookup_type("long long").pointer()).dereference()):
                yield "[%d] until" % i, (times + i).dereference()

    return "HeldModels of %d" % size, parts()


def rare_parts(value):
    """A rare value is a unique_ptr, which is its pointer; null stands for a blank one."""
    pointer = value["value_"].address.cast(plain(value).template_argument(0).pointer().pointer()).dereference()
    if not pointer:
        return "blank", iter(())
    made = pointer.dereference()
    made.fetch_lazy()  # memory never initialised leads elsewhere
    return "made", ((field.name, made[field]) for field in plain(made).fields())


def events_parts(value):
    size, elements = elements_of(value["events_"])
    return "Events of %d, the answer from %d" % (size, checked(int(value["answer_"]), size)), elements


def taken_of(slots):
    """How many slots are taken, and which, ascending."""
    levels, height = list_of(slots["levels_"])
    first, count = vector_of(levels.dereference()) if height else (slots["first_word_"].address, 1)
    size = checked(int(slots["size_"]), 64 * count)
    taken = (64 * i + bit for i in range(count) for word in [int(first[i])] for bit in range(64) if word >> bit & 1)
    return size, itertools.islice(taken, size)


def record_at(pages, handle):
    record, page_size = (plain(pages).template_argument(i) for i in (0, 1))
    first, count = vector_of(pages["pages_"]["pages_"])
    page, place = divmod(handle, int(page_size))
    if page >= count:
        raise Nonsense("no page holds %d" % handle)
    return (first.cast(record.pointer().pointer())[page] + place).dereference()  # `PageList` has them as void*


def bytes_of(value):
    return bytes(gdb.selected_inferior().read_memory(int(value.address), value.type.sizeof))


def pages_parts(value):
    """Pages do not know which records are live; those at the end that are alike, as never used ones are, print once."""
    end = capacity = vector_of(value["pages_"]["pages_"])[1] * int(plain(value).template_argument(1))
    while end > 1 and bytes_of(record_at(value, end - 2)) == bytes_of(record_at(value, end - 1)):
        end -= 1
    alike = ", from [%d] on all alike" % (end - 1) if end < capacity else ""
    return "Pages for %d%s" % (capacity, alike), (("[%d]" % handle, record_at(value, handle)) for handle in range(end))


def table_parts(value):
    size, taken = taken_of(value["taken_"])
    return "Table of %d" % size, (("[%d]" % handle, record_at(value["records_"], handle)["record"]) for handle in taken)


def interner_parts(value):
    size, taken = taken_of(value["ids_"])

    def entries():
        for i in taken:
            entry = record_at(value["entries_"], i)
            yield "[%d], count %d" % (i, int(entry["count"])), optional_of(entry["value"])

    return "Interner of %d" % size, entries()


# --- How gdb finds them -------------------------------------------------------------------------------------------


class Line:
    def __init__(self, value, text):
        self.value, self.text = value, text

    def to_string(self):
        try:
            return self.text(self.value)
        except Exception as error:  # whatever it is, the rest of what gdb was asked for is still worth printing
            return "<unreadable: %s>" % error


class Listing:
    def __init__(self, value, parts):
        try:
            self.heading, self.parts = parts(value)
        except Exception as error:  # as above
            self.heading, self.parts = "<unreadable: %s>" % error, iter(())

    def to_string(self):
        return self.heading

    def children(self):
        try:
            yield from self.parts
        except Exception as error:  # as above
            yield "unreadable", str(error)


LINES = {
    "Id": id_text, "u128": lambda value: str(u128_of(value)), "Amount": lambda value: str(u128_of(value["units"])),
    "Score": lambda value: fraction(int(value["raw_"]), 30, 3), "Weight": lambda value: fraction(u128_of(value["raw_"]), 92, 9),
    "Value": value_text, "StakeRoot": stake_root_text, "Entropy": entropy_text, "Handle": handle_text, "Name": name_text,
    "Gibibytes": lambda value: "%d GiB" % int(value["count"]),
    "SoftwareVersion": lambda value: "%d.%d.%d" % tuple(int(value[part]) for part in ("major", "minor", "patch")),
    "Moment": record_text, "Lease": record_text, "Outcome": record_text, "NodeSpec": record_text, "NodeUpdate": record_text,
    "TaskSpec": record_text, "Event": variant_text, "basic_command": variant_text,
}
LISTINGS = {
    "List": list_parts, "HeldModels": held_models_parts, "Rare": rare_parts, "Events": events_parts, "Pages": pages_parts, "Table": table_parts,
    "NamedTable": table_parts, "Interner": interner_parts,
}
ELSEWHERE = [  # types that are aliases of others' types
    (r"std::(\w+::)?chrono::duration<(long|long long), std::(\w+::)?ratio<1l*, 1000l*> ?>$", Line, duration_text),
    (r"std::(\w+::)?chrono::time_point<allot::v\d+::NetworkTime,.*>$", Line, time_point_text),
]


def find(value):
    """The printer of a value, or None; gdb asks this for everything that it prints."""
    if plain(value).code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    name = plain(value).name
    if plain(value).code != gdb.TYPE_CODE_STRUCT or name is None:
        return None
    own = re.match(r"allot::v\d+::([\w:]+)(<.*>)?$", name)
    if own and own[1] in LINES:
        if LINES[own[1]] is variant_text and value.address is None:
            return None  # a result in registers: gdb shows the variant its own way
        return Line(value, LINES[own[1]])
    if own and own[1] in LISTINGS:
        return Listing(value, LISTINGS[own[1]])
    if own and own[1].startswith(("event::", "command::")):
        return Line(value, record_text)
    return next((kind(value, how) for pattern, kind, how in ELSEWHERE if re.match(pattern, name)), None)


find.name = "allot"  # for `info pretty-printer` and `disable pretty-printer`
find.enabled = True
gdb.printing.register_pretty_printer(gdb.current_objfile(), find, replace=True)
