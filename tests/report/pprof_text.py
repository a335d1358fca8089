"""A pprof file as Python objects, by way of `protoc --decode` and the published field numbers."""
import ast
import gzip
import pathlib
import re
import subprocess

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures/export"


def decode(profile):
    """protoc's text of the (unpacked) bytes of a profile; fails on a field that the schema does not have."""
    done = subprocess.run(["protoc", "--decode=perftools.profiles.Profile", f"-I{FIXTURES}", "profile.proto"],
                          input=profile, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("ascii")
    assert not re.search(r"^\s*\d+[: ]", text, re.MULTILINE), "a field that the schema does not know"
    return text


def parse(text):
    """Messages as dicts of lists: {"sample": [{"value": [1, 2], ..}, ..], ..}"""
    top = {}
    open_messages = [top]
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            open_messages.pop()
        elif line.endswith(" {"):
            message = {}
            open_messages[-1].setdefault(line[:-2], []).append(message)
            open_messages.append(message)
        else:
            key, value = line.split(": ", 1)
            if value.startswith('"'):  # octal escapes of UTF-8
                value = ast.literal_eval("b" + value).decode("utf-8")
            else:
                value = {"true": True, "false": False}.get(value) if value in ("true", "false") else int(value)
            open_messages[-1].setdefault(key, []).append(value)
    return top


class Profile:
    def __init__(self, file):
        document = parse(decode(gzip.decompress(pathlib.Path(file).read_bytes())))
        self.strings = document["string_table"]
        assert self.strings[0] == "" and len(set(self.strings)) == len(self.strings)
        self.types = [(self._text(t, "type"), self._text(t, "unit")) for t in document["sample_type"]]
        self.comments = [self.strings[index] for index in document.get("comment", ())]
        self.duration_ns = document["duration_nanos"][0]
        functions = {f["id"][0]: f for f in document.get("function", ())}
        self.functions = {number: (self._text(f, "name"), self._text(f, "system_name"), self._text(f, "filename"))
                          for number, f in functions.items()}
        locations = {}
        for location in document.get("location", ()):
            (line,) = location["line"]
            locations[location["id"][0]] = self.functions[line["function_id"][0]][0], line.get("line", [0])[0]
        self.samples = []  # ([(function, line), .. innermost first], [values], {label: value})
        for sample in document.get("sample", ()):
            labels = {self._text(label, "key"): self._text(label, "str") or label.get("num", [0])[0]
                      for label in sample["label"]}
            self.samples.append(([locations[number] for number in sample["location_id"]], sample["value"], labels))

    def _text(self, message, key):
        return self.strings[message.get(key, [0])[0]]

    def totals(self, value):
        """({function: self}, {function: total}) of the value at that index."""
        own, total = {}, {}
        for stack, values, _ in self.samples:
            names = [name for name, _ in stack]
            own[names[0]] = own.get(names[0], 0) + values[value]
            for name in set(names):
                total[name] = total.get(name, 0) + values[value]
        return own, total
