"""What has been measured so far: a file of JSON lines, the first of which holds the parameters, each other one a run.

A line is written whole and reaches the disk before the next run starts. A last line that was cut off (the evaluation was
killed while it wrote) is as good as none."""
import fcntl
import json
import os
import pathlib


class DoesNotFit(Exception):
    """The folder holds something else than what is to be measured."""


class Store:
    def __init__(self, file, parameters):
        """Opens it, or begins it. Raises DoesNotFit if it has other parameters."""
        self.file_name = pathlib.Path(file)
        self.file = open(file, "a+b")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.file.close()
            raise DoesNotFit(f"{file} is being written by another evaluation") from None
        try:
            found, self.rows = self._read()
            if found is None:
                self._write({"parameters": parameters})
            else:
                self._compare(found, parameters)
        except DoesNotFit:
            self.file.close()
            raise

    def append(self, row):
        self._write(row)
        self.rows.append(row)

    def close(self):
        self.file.close()

    def _read(self):
        """(parameters, rows); what is cut off at the end is removed from the file."""
        self.file.seek(0)
        whole, newline, cut_off = self.file.read().rpartition(b"\n")
        if cut_off:
            self.file.truncate(len(whole) + len(newline))
        lines = []
        for number, line in enumerate(whole.split(b"\n") if whole else (), 1):
            try:
                lines.append(json.loads(line))
            except ValueError:
                raise DoesNotFit(f"{self.file_name}, line {number}: no JSON") from None
        if not lines:
            return None, []
        if not isinstance(lines[0], dict) or "parameters" not in lines[0]:
            raise DoesNotFit(f"{self.file_name} is no file of an evaluation: it does not begin with parameters")
        for number, row in enumerate(lines[1:], 2):
            if not isinstance(row, dict) or "key" not in row:
                raise DoesNotFit(f"{self.file_name}, line {number}: no run")
        return lines[0]["parameters"], lines[1:]

    def _compare(self, found, wanted):
        differences = [f"{name} was {found.get(name)!r} and is {wanted.get(name)!r}"
                       for name in sorted(found.keys() | wanted.keys()) if found.get(name) != wanted.get(name)]
        if differences:
            raise DoesNotFit(f"{self.file_name.parent} holds another evaluation: {'; '.join(differences)}. "
                             "Name another --output, or the parameters that it was begun with.")

    def _write(self, value):
        self.file.write(json.dumps(value).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())
