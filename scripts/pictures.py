#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Records the moving pictures of README.md from the real programs: pictures.py PROGRAMS FOLDER

utter runs in a terminal of 80 columns, with the virtual microphone of the tests as its sound card,
'utter serve' as its service, and a link between them that can be cut. The clock of all of them (but not
that of the kernel) stands still until the recorder moves it, by the library with which tests make clocks
jump, and the microphone has what the recorder says: a tenth of a second a picture, once the programs
have come to rest. Random numbers, of which names and pauses are made, depend on that clock alone. So two
runs give the same pictures, unless the machine is so busy that programs which wait for a processor are
taken for programs at rest.
The recorder writes the prompt, the command and the line below the window; all else is what the programs
have written.
"""
import contextlib
import fcntl
import mmap
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
import xml.sax.saxutils

import pyte

COLUMNS = 80
SOURCES = pathlib.Path(__file__).resolve().parent.parent
# Both are seen in the pictures. 2026-11-01, 10:42 UTC.
BEGINNING, PORT = 1_793_529_720, 8600
HOME = pathlib.Path("/tmp/utter-pictures")
# Frames of the microphone, and nanoseconds. utter reads a tenth of a second at a time, and looks again
# after a quarter of that; it tells of progress each 100 ms, and paints each 60 ms. So all that came of
# one reading is painted before the next, and whether the peak of the meter is 1.5 s old is clear.
PERIOD, READ, PAINTED, REPAINTED = 1600, 26_000_000, 104_000_000, 61_000_000
# Of the virtual card's state: see Tests/VirtualMicrophone.
OPENS, STARTS, CAPTURED, CLOSES, POSITION = 0, 1, 8, 14, 37


class Clock:
    """What the programs take for the time: a file of two integers, which they have mapped."""

    def __init__(self, path):
        path.write_bytes(bytes(16))
        with open(path, "r+b") as file:
            self.words = mmap.mmap(file.fileno(), 16)
        # Behind that of the kernel, so that no wait of the kernel is too long.
        self.now = (time.monotonic_ns() // 10**9 - 1) * 10**9
        self.offset = BEGINNING - self.now // 10**9
        self.go_on(0)

    def go_on(self, nanoseconds):
        self.now += nanoseconds
        self.words[:] = struct.pack("=qq", self.offset, self.now)


class Link:
    """Carries bytes between a port of its own and the service, until it is cut."""

    def __init__(self, port):
        self.target, self.ends = port, []
        self.mend()

    def accept(self, listener):
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target))
            self.ends += [near, far]
            for pair in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=pair, daemon=True).start()

    def carry(self, source, target):
        try:
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def cut(self):
        """Resets all connections, and refuses others."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for end in self.ends:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            # A thread that reads holds the descriptor; this wakes it.
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RD)
            end.close()
        self.ends = []

    def mend(self):
        self.listener = socket.create_server(("127.0.0.1", PORT))
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()


class Stage:
    """A folder with a microphone, a service and a terminal; what is recorded are its frames."""

    def __init__(self, programs, folder, rows):
        self.programs, self.folder, self.rows = programs, folder, rows
        self.frames, self.caption, self.children = [], "", []
        self.screen = pyte.Screen(COLUMNS, rows)
        self.stream = pyte.Stream(self.screen)
        self.terminal = None
        self.screen.write_process_input = lambda text: os.write(self.terminal, text.encode())
        for name, source, library in (("mic", "VirtualMicrophone/pcm_uttermic.c", "-lasound"),
                                      ("clock", "ClockJump/clockjump.c", "-ldl")):
            subprocess.run(
                ["cc", "-shared", "-fPIC", "-DPIC", "-D_GNU_SOURCE", "-O1", "-o", folder / f"{name}.so",
                 SOURCES / "Tests" / source, library], check=True)
        (folder / "asound.conf").write_text(
            f'pcm_type.uttermic {{ lib "{folder}/mic.so" }}\n'
            f'pcm.!default {{ type uttermic dir "{folder}" }}\n')
        (folder / "state").write_bytes(bytes(512))
        with open(folder / "state", "r+b") as file:
            self.card = memoryview(mmap.mmap(file.fileno(), 512)).cast("Q")
        self.card[POSITION] = 1
        self.clock = Clock(folder / "clock")
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "TZ": "UTC",
            "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "ALSA_CONFIG_PATH": str(folder / "asound.conf"),
            "LD_PRELOAD": str(folder / "clock.so"), "UTTER_TEST_CLOCK": str(folder / "clock"),
        }
        self.service = self.serve()
        self.link = Link(self.service)
        settings = folder / ".config/utter"
        settings.mkdir(parents=True)
        (settings / "config.toml").write_text(
            'service = "desk"\n[services.desk]\nprofile = "utter"\n'
            f'url = "http://127.0.0.1:{PORT}/recognize"\n[recording]\nperiod = "100ms"\n')

    def serve(self):
        child = subprocess.Popen(
            [self.programs / "utter", "serve", "--port", "0", "--grammar", SOURCES / "samples/grammar/demo.gram"],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.children.append(child.pid)
        self.server = child
        for line in child.stdout:
            if port := re.search(r"listening on http://127.0.0.1:(\d+)/", line):
                return int(port[1])
        raise SystemExit("utter serve did not begin to listen")

    def voice(self, recording):
        """Each time that it is opened, the microphone hears this, and then silence."""
        (self.folder / "voice.raw").write_bytes((SOURCES / "samples" / recording).read_bytes()[44:])
        (self.folder / "card").write_text(
            "rates 16000\nchannels 1\nformats S16_LE\nperiods 2 1024\nperiod_bytes 64 65536\n"
            f"buffer_bytes 256 4000000\ncontent {self.folder}/voice.raw\n")

    # What is seen

    def frame(self, seconds=0.1):
        picture = ([[self.screen.buffer[row][column] for column in range(COLUMNS)]
                    for row in range(self.rows)], self.caption)
        if self.frames and self.frames[-1][1] == picture:
            seconds += self.frames.pop()[0]
        self.frames.append((round(seconds, 2), picture))

    def say(self, caption):
        self.caption = caption

    def type(self, command):
        """A person types a command at the prompt."""
        self.stream.feed("\x1b[32m$\x1b[0m ")
        self.frame(0.5)
        for letter in command:
            self.stream.feed(letter)
            self.frame(0.06)
        self.frame(0.4)
        self.stream.feed("\r\n")

    # What happens

    def run(self, command, events=None, limit=200):
        """Runs a command to its end; at a number of tenths of a second, an event happens."""
        self.type(command)
        words = command.split()
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(SOURCES / "samples")
            os.execve(self.programs / words[0], words, self.environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, COLUMNS, 0, 0))
        self.children.append(pid)
        for tenth in range(limit):
            if event := (events or {}).get(tenth):
                event()
                self.pass_time(0)
            if self.is_recording():
                self.card[POSITION] += PERIOD
            goes_on = self.pass_time(READ) and self.pass_time(PAINTED)
            # A line that stays takes the painted ones away, or came just before they were painted.
            if goes_on and self.has_line:
                goes_on = self.pass_time(REPAINTED)
            self.frame()
            if not goes_on:
                break
        else:
            raise SystemExit(f"'{command}' did not end")
        self.children.remove(pid)
        os.waitpid(pid, 0)
        os.close(self.terminal)

    def key(self, text):
        os.write(self.terminal, text.encode())

    def pass_time(self, nanoseconds):
        """Waits until the programs rest. Returns whether the terminal is still in use."""
        self.clock.go_on(nanoseconds)
        # A thread may still be in a wait of the kernel that was as long as was left.
        quiet, enough, self.has_line = 0, 6 + nanoseconds // 10**7, False
        while quiet < enough:
            if select.select([self.terminal], [], [], 0.01)[0]:
                try:
                    data = os.read(self.terminal, 1 << 16).decode(errors="replace")
                except OSError:
                    return False
                self.has_line |= "\n" in data.replace("\x1b[K\r\r\n", "")
                # The interpreter does not know the codes of the kitty keyboard protocol.
                self.stream.feed(re.sub(r"\x1b\[[<>=?][0-9;]*u", "", data))
                quiet = 0
            is_behind = self.is_recording() and self.card[CAPTURED] + 1 < self.card[POSITION]
            quiet = 0 if is_behind or self.is_busy() else quiet + 1
        return True

    def is_recording(self):
        return self.card[STARTS] and self.card[OPENS] > self.card[CLOSES]

    def is_busy(self):
        """Whether a thread of a program, or of what it has started, runs or waits for the disk."""
        processes = list(self.children)
        for process in processes:
            for task in pathlib.Path(f"/proc/{process}/task").glob("*"):
                try:
                    if (task / "stat").read_text().rpartition(")")[2].split()[0] in "RD":
                        return True
                    processes += map(int, (task / "children").read_text().split())
                except OSError:
                    pass
        return False

    def end(self):
        self.link.cut()
        for child in self.children:
            os.kill(child, signal.SIGKILL)
        self.server.wait()


# The picture

CELL, LINE, MARGIN = 9, 20, 14
STYLE = """
text{font:15px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;fill:#1f2328}
.w{fill:#fff;stroke:#d1d9e0}.red{fill:#c21f2c}.brown{fill:#8a5a00}.cyan{fill:#0a6e84}.green{fill:#1a7f37}
.b{fill:#4a5560}.c{fill:#5a6570;font-style:italic}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.w{fill:#0d1117;stroke:#3d444d}.red{fill:#ff7b72}
.brown{fill:#e3b341}.cyan{fill:#56d4dd}.green{fill:#56d364}.b{fill:#9aa6b2}.c{fill:#9da7b3}}
"""


def runs(row):
    """Pieces of one style, each at its own place: letters of a viewer's font may be wider or narrower."""
    pieces = []
    for column, cell in enumerate(row):
        kind, letter = (cell.fg, ord(cell.data) > 0x2000), cell.data
        last = pieces[-1] if pieces else None
        # Two blanks end a piece; a bar keeps its own.
        if last and last[1] == kind and last[0] + len(last[2]) == column:
            last[2] += letter
        else:
            pieces.append([column, kind, letter])
    for column, (colour, is_block), text in pieces:
        for match in re.finditer(r"\S+(?: \S+)*", text):
            yield column + match.start(), "b" if is_block and colour == "default" else colour, match[0]


def text(x, y, letters, style):
    attributes = f' class="{style}"' if style != "default" else ""
    return (f'<text x="{x}" y="{y}" textLength="{CELL * len(letters)}" '
            f'lengthAdjust="spacingAndGlyphs"{attributes}>{xml.sax.saxutils.escape(letters)}</text>')


def svg(frames, rows, title):
    """A strip of all frames, which moves by one at a time. Where nothing moves, the last is seen."""
    width, height = 2 * MARGIN + COLUMNS * CELL, 2 * MARGIN + (rows + 1) * LINE
    total = sum(seconds for seconds, _ in frames)
    shapes, strip, moves, at = {}, [], [], 0.0
    for index, (seconds, (picture, caption)) in enumerate(frames):
        moves.append(f"{100 * at / total:.3f}%{{transform:translateY({-index * height}px)}}")
        at += seconds
        lines = [(row, "".join(text(column * CELL, 0, letters, style) for column, style, letters in runs(cells)))
                 for row, cells in enumerate(picture)]
        if caption:
            lines.append((rows, text(0, 0, caption, "c")))
        for row, shape in lines:
            if shape:
                name = shapes.setdefault(shape, f"s{len(shapes)}")
                y = index * height + MARGIN + row * LINE + 15
                strip.append(f'<use href="#{name}" x="{MARGIN}" y="{y}"/>')
    last = (len(frames) - 1) * height
    style = STYLE + (
        f".f{{animation:f {total:.2f}s step-end infinite}}\n"
        f"@keyframes f{{{''.join(moves)}}}\n@media(prefers-reduced-motion:reduce){{.f{{animation:none}}}}\n")
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
         f'role="img"><title>{xml.sax.saxutils.escape(title)}</title>', f"<style>{style}</style>", "<defs>"]
        + [f'<g id="{name}">{shape}</g>' for shape, name in shapes.items()]
        + ["</defs>", f'<rect class="w" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>',
           f'<g class="f" transform="translate(0,{-last})">'] + strip + ["</g>", "</svg>", ""])


# The stories

def speak(stage):
    stage.voice("cards-three.wav")
    stage.say("a voice at the microphone; utter sends it while it speaks")
    stage.run("utter", {36: lambda: stage.key(" ")})
    stage.say("the text, a moment after the last word")
    stage.frame(3)


def broken_link(stage):
    def cut():
        stage.link.cut()
        stage.say("the link breaks: the recording goes on")

    def mend():
        stage.link.mend()
        stage.say("the link is back: utter tries again, and sends what the service lacks")

    stage.voice("cards-three.wav")
    stage.say("a voice at the microphone; utter sends it while it speaks")
    stage.run("utter", {12: cut, 20: mend, 38: lambda: stage.key(" ")})
    stage.say("no word is lost")
    stage.frame(3)


def retry(stage):
    stage.say("the service is away: the take is kept")
    stage.link.cut()
    stage.run("utter send -q -c retry.never=true go-forward.wav")
    stage.frame(2)
    stage.run("utter list")
    stage.frame(2)
    stage.link.mend()
    stage.say("the service is back")
    stage.run("utter retry last")
    stage.frame(1.5)
    stage.say("answered: the sound is kept for a day, the text for 30")
    stage.run("utter list")
    stage.frame(3)


STORIES = {
    "speak": (speak, 4, "utter prints what was said as soon as it was said"),
    "broken-link": (broken_link, 9, "a link breaks and comes back, and no word is lost"),
    "retry": (retry, 12, "utter list shows what was kept, and utter retry sends it"),
}


def main():
    programs, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for name, (story, rows, title) in STORIES.items():
        if name not in (sys.argv[3:] or STORIES):
            continue
        shutil.rmtree(HOME, ignore_errors=True)
        HOME.mkdir(mode=0o700)
        stage = None
        try:
            stage = Stage(programs, HOME, rows)
            story(stage)
        finally:
            if stage:
                stage.end()
            shutil.rmtree(HOME)
        path = folder / f"{name}.svg"
        path.write_text(svg(stage.frames, rows, title))
        print(f"{path}: {len(stage.frames)} frames, {path.stat().st_size // 1000} kB", file=sys.stderr)


if __name__ == "__main__":
    main()
