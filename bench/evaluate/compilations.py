"""What HotSpot has compiled and inlined, from its log (-XX:+LogCompilation)."""
import html
import re

OPTIONS = ("-XX:+UnlockDiagnosticVMOptions", "-XX:+LogCompilation")
C2 = 4

TAG = re.compile(r"<(/?)([a-z_]+)([^>]*)>")
ATTRIBUTE = re.compile(r"([a-z_0-9]+)='([^']*)'")
# What is numbered anew in every run: hidden classes, lambdas, proxies, accessors.
GENERATED = ((re.compile(r"[/+.]0x[0-9a-f]+"), ""), (re.compile(r"(\$\$Lambda)[$/.]\d+(/\d+)?"), r"\1"),
             (re.compile(r"(Proxy|Accessor)\d+"), r"\1"), (re.compile(r"(LambdaForm\$\w+)/\d+"), r"\1"))


def plain_name(name):
    for pattern, replacement in GENERATED:
        name = pattern.sub(replacement, name)
    return name


class Task:
    """One compilation: what it parses is inlined into what it was parsing at that moment."""

    def __init__(self, attributes):
        holder, name, *_ = attributes["method"].split(" ")
        self.method = plain_name(f"{holder}.{name}")
        self.tier = int(attributes.get("level", C2))  # of C2's own there is none
        self.classes, self.methods = {}, {}
        self.parsing, self.inlined = [], set()

    def see(self, end, tag, attributes):
        if tag == "klass":
            self.classes[attributes.get("id")] = attributes.get("name", "?")
        elif tag == "method" and "id" in attributes:
            holder = self.classes.get(attributes.get("holder"), "?")
            self.methods[attributes["id"]] = plain_name(f"{holder}.{attributes.get('name', '?')}")
        elif tag == "parse" and end:
            del self.parsing[-1:]
        elif tag == "parse":
            callee = self.methods.get(attributes.get("method"), "?")
            is_root = not self.parsing and callee == self.method
            if not is_root:  # with nothing else open it is inlined late, into the root as far as we can tell
                self.inlined.add((self.parsing[-1] if self.parsing else self.method, callee))
            self.parsing.append(callee)


def read_log(lines):
    """{"methods": [(method, tier)], "inlined": [(caller, callee) by C2]}, sorted, of compilations that succeeded."""
    methods, inlined = set(), set()
    task = None
    for line in lines:
        found = TAG.match(line.lstrip())
        if not found:
            continue
        end, tag = bool(found[1]), found[2]
        if task is None and tag != "task":
            continue
        attributes = {name: html.unescape(value) for name, value in ATTRIBUTE.findall(found[3])}
        if tag == "task" and not end:
            task = Task(attributes)
        elif tag == "task":
            task = None
        elif tag == "task_done":
            if attributes.get("success") == "1":
                methods.add((task.method, task.tier))
                if task.tier == C2:
                    inlined |= task.inlined
        else:
            task.see(end, tag, attributes)
    return {"methods": sorted(methods), "inlined": sorted(inlined)}


def alike(one, other):
    """What both have, of what any has (Jaccard's index); 1 if both are empty."""
    one, other = set(map(tuple, one)), set(map(tuple, other))
    return len(one & other) / len(one | other) if one | other else 1.0
