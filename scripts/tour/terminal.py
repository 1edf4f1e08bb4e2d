"""A terminal of so many columns and rows around one command, and what stands on its screen."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

CODE = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])")


class Screen:
    """As much of a terminal as the live view uses: lines, up, the rest of a line and of the screen away."""

    def __init__(self):
        self.lines, self.row, self.column = [""], 0, 0

    def write(self, text):
        at = 0
        while at < len(text):
            code = CODE.match(text, at)
            if code:
                self.obey(code[1], code[2])
                at = code.end()
                continue
            self.put(text[at])
            at += 1

    def put(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row, self.column = self.row + 1, 0
            self.lines += [""] * (self.row + 1 - len(self.lines))
        else:
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[:self.column] + character + line[self.column + 1:]
            self.column += 1

    def obey(self, numbers, letter):
        if letter == "A":
            self.row = max(0, self.row - int(numbers or 1))
        elif letter == "K":
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif letter == "J":
            self.lines[self.row] = self.lines[self.row][:self.column]
            del self.lines[self.row + 1:]

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.lines).strip("\n")


def snapshot(arguments, environment, directory, is_wanted, columns=100, rows=30, seconds=60):
    """What stands on the screen when it is as wanted; then Ctrl-C. Returns the screen and the exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(directory)
        os.execvpe(arguments[0], arguments, environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    screen, wanted, rest = Screen(), None, b""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        # What was read may end in the middle of a code or of a character.
        rest += data
        whole, rest = split(rest)
        screen.write(whole)
        if wanted is None and is_wanted(screen.text):
            wanted = screen.text
            os.write(terminal, b"\x03")
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return wanted, status


def split(data):
    end = data.rfind(b"\x1b")
    if end < 0 or CODE.match(data[end:].decode("utf-8", "ignore")):
        end = len(data)
    while end > 0:
        try:
            return data[:end].decode(), data[end:]
        except UnicodeDecodeError:
            end -= 1
    return "", data
