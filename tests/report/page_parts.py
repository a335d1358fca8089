"""The data of the page out of an exported html file, as docs/page.md describes it."""
import base64
import collections
import gzip
import json
import re

MAGIC = b"tarsier-columns-1\n"
NUMBERS, DIFFERENCES, TEXTS, SPARSE = range(4)


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def take(self, length):
        assert self.at + length <= len(self.data)
        self.at += length
        return self.data[self.at - length:self.at]

    def left(self):
        return len(self.data) - self.at


def column(kind, rows, content):
    reader = Bytes(content)
    if kind == TEXTS:
        return [reader.take(length).decode() for length in [reader.number() for _ in range(rows)]]
    if kind == SPARSE:
        values, at = [0] * rows, -1
        while reader.left():
            at += reader.number()
            values[at] = reader.number()
        return values
    values = [reader.number() for _ in range(rows)]
    if kind == NUMBERS:
        return values
    last = 0
    for i, value in enumerate(values):
        last += value // 2 if value % 2 == 0 else -(value + 1) // 2
        values[i] = last
    return values


def columns(data):
    """By name; one that is not there is empty."""
    reader = Bytes(data)
    assert reader.take(len(MAGIC)) == MAGIC
    found = collections.defaultdict(list)
    for _ in range(reader.number()):
        name = reader.take(reader.number()).decode()
        kind, rows, length = reader.number(), reader.number(), reader.number()
        found[name] = column(kind, rows, reader.take(length))
        assert len(found[name]) == rows
    assert reader.left() == 0
    return found


def parts_of(html):
    """By name: the head as it is, all others as columns."""
    parts = {}
    for name, text in re.findall(r'id="tarsier-part-([^"]+)">([^<]*)</script>', html.read_text()):
        data = gzip.decompress(base64.b64decode(text))
        parts[name] = json.loads(data) if name == "head" else columns(data)
    assert sorted(parts["head"]["parts"]) == sorted(parts)
    return parts


class Locks:
    """Contentions, broken down as the page does it."""

    GROUPS = ("monitor", "juc", "condition", "other")

    def __init__(self, parts):
        self.rows, self.threads = parts["locks"], parts["threads"]

    def thread(self, row):
        return self.threads["names"][self.threads["name"][row]]

    def chain(self, node):
        frames = []
        while node:
            frames.append(self.rows["labels"][self.rows["chain_label"][node]])
            node = self.rows["chain_parent"][node]
        return " < ".join(frames) or "[no stack]"

    def label(self, aspect, row, piece):
        at = lambda name, index: self.rows[name][index]  # noqa: E731
        if aspect == "group":
            return self.GROUPS[at("group", row)]
        if aspect in ("class", "object"):
            lock = at("lock", row)
            if not lock:
                return "[no blocker]"
            return at("objects", lock - 1) if aspect == "object" else at("classes", at("lock_class", lock - 1))
        if aspect == "after-wait":
            return "after wait" if at("after_wait", row) else "not after wait"
        if aspect == "blocked-thread":
            return self.thread(at("thread", row))
        if aspect == "blocked-chain":
            return self.chain(at("chain", row))
        if aspect == "blocked-method":
            return at("labels", at("method", row) - 1) if at("method", row) else "[no stack]"
        if aspect == "owner-thread" and at("owner_thread", piece):
            return self.thread(at("owner_thread", piece) - 1)
        if at("owner_kind", piece):
            return ("", "[no chain]", "[hand-off]", "[unknown owner]")[at("owner_kind", piece)]
        if aspect == "owner-method":
            return at("labels", at("owner_method", piece) - 1)
        return self.chain(at("owner_chain", piece))

    def by(self, *aspects):
        """{path of labels: [blocked_ns, count, max_ns]}"""
        sums = collections.defaultdict(lambda: [0, 0, 0])
        end = 0
        for row, pieces in enumerate(self.rows["pieces"]):
            first, end = end, end + pieces
            if "group" not in aspects and self.rows["group"][row] > 1:
                continue
            inside = collections.Counter()
            for piece in range(first, end):
                path = ()
                for aspect in aspects:
                    path += (self.label(aspect, row, piece),)
                    inside[path] += self.rows["piece_length"][piece]
            for path, ns in inside.items():
                sums[path][0] += ns
                sums[path][1] += 1 + self.rows["more"][row]
                sums[path][2] = max(sums[path][2], ns if not self.rows["more"][row] else 0)
        return dict(sums)
