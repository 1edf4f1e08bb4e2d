"""Which commands run on this machine for operations, as /proc tells without asking the coordinator."""

import os


def youngest_command(ending):
    """Path and process of the operation that began last among those with a path that ends so; None: there is none."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                variables = dict(one.split(b"=", 1) for one in file.read().split(b"\0") if b"=" in one)
            path = variables.get(b"AOP_PATH", b"").decode()
            if path.endswith(ending):
                found.append((int(stat(pid)[21]), path, int(pid)))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return max(found)[1:] if found else None


def is_below(pid, ancestor):
    """Whether a process was started by another one, or by one that was."""
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            pid = int(stat(pid)[3])
        except (FileNotFoundError, ProcessLookupError):
            return False
    return False


def stat(pid):
    """The fields of /proc/PID/stat; the second one, a name, may have anything in it."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        text = file.read()
    name = text.rindex(")")
    return [pid, text[:name], *text[name + 2:].split()]
