"""Plays the agent's side of the control protocol (src/control/messages.h), well or badly, as its argument says. Started
by `tarsier record -- fake_agent.py SCENARIO`, it finds the socket where a JVM would: in JAVA_TOOL_OPTIONS."""
import array
import json
import os
import re
import signal
import socket
import struct
import sys
import time


class Agent:
    def __init__(self):
        path = re.search(r"connect=([^\s\"]+)", os.environ["JAVA_TOOL_OPTIONS"])[1]
        if "FAKE_AGENT_NOTE" in os.environ:  # for a test that looks what remains of it
            with open(os.environ["FAKE_AGENT_NOTE"], "w") as note:
                note.write(path)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.buffer = b""
        self.file = None

    def send(self, kind, **members):
        body = json.dumps({"tarsier": 1, "type": kind, **members}).encode()
        self.socket.sendall(struct.pack("<I", len(body)) + body)

    def receive(self, kind):
        while len(self.buffer) < 4 or len(self.buffer) < 4 + struct.unpack("<I", self.buffer[:4])[0]:
            data, ancillary, _, _ = self.socket.recvmsg(4096, socket.CMSG_LEN(4))
            for level, what, content in ancillary:
                if (level, what) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    self.file = array.array("i", content)[0]
            if not data:
                raise SystemExit(f"the command hung up before {kind}")
            self.buffer += data
        size = 4 + struct.unpack("<I", self.buffer[:4])[0]
        message, self.buffer = json.loads(self.buffer[4:size]), self.buffer[size:]
        assert message["type"] == kind, message
        return message

    def start(self, content=b"no recording, but something"):
        """Up to the point where it records; returns the command's Start."""
        self.send("hello", agent_version="0", jvm="0", pid=os.getpid())
        start = self.receive("start")
        os.write(self.file, content)
        self.send("started", engines=[{"name": "agct", "mechanism": "fake", "why": "a test", "interval_ns": 1000000}],
                  warnings=["careful\x1b[2J"])
        self.progress(1)
        return start

    def progress(self, elapsed):
        self.send("progress", elapsed_ns=elapsed * 10**9, taken=elapsed * 1000, hottest="evil\x1b[2J.Name")

    def finish(self, **members):
        self.send("finished", **{"complete": True, "taken": 7, "written": 7, **members})


def says_options():
    agent = Agent()
    start = agent.start()
    print(start["options"], start["file_name"], flush=True)
    agent.finish()


def reports_progress():
    agent = Agent()
    agent.start()
    for elapsed in range(2, 26):  # as if it were seconds
        agent.progress(elapsed)
        time.sleep(0.01)
    agent.finish()


def is_busy():
    agent = Agent()
    agent.send("hello", agent_version="0", jvm="0", pid=1)
    agent.receive("start")
    agent.send("failed", code="busy", what="this JVM is being recorded by pid 4711, 12 s left")


def hangs_up_at_once():
    Agent()


def hangs_up_while_recording():
    Agent().start()


def hangs_up_with_an_empty_file():
    Agent().start(b"")


def is_incomplete():
    agent = Agent()
    agent.start()
    agent.finish(complete=False, missing="the disk is full")


def talks_nonsense():
    agent = Agent()
    agent.socket.sendall(struct.pack("<I", 5) + b"[[[[[")


def talks_too_much():
    agent = Agent()
    agent.socket.sendall(struct.pack("<I", 0xffffffff))


def speaks_another_version():
    agent = Agent()
    body = b'{"tarsier": 99, "type": "hello"}'
    agent.socket.sendall(struct.pack("<I", len(body)) + body)


def never_calls():
    pass


def exits_with_7_after_finishing():
    agent = Agent()
    agent.start()
    agent.finish()
    sys.exit(7)


def goes_on_after_finishing():
    agent = Agent()
    agent.start()
    agent.finish()
    time.sleep(2)
    print("went on", flush=True)


def ends_by_sigterm():
    """Like a JVM: SIGTERM makes it finish the recording."""
    agent = Agent()
    agent.start()

    def on_signal(*_):
        agent.finish()
        sys.exit(0)

    signal.signal(signal.SIGTERM, on_signal)
    print("READY", flush=True)
    time.sleep(60)


def ignores_sigint():
    """The first Ctrl-C is the program's, which does not care; the second must save."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    agent = Agent()
    agent.start()
    print("READY", flush=True)
    agent.receive("stop")
    agent.finish()


def never_finishes():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    agent = Agent()
    agent.start()
    print("READY", flush=True)
    agent.receive("stop")
    while True:
        try:
            agent.receive("nothing more")
        except SystemExit:
            return


if __name__ == "__main__":
    globals()[sys.argv[1]]()
