"""Names for hosts that are all this machine."""

import ctypes
import os
import socket
import subprocess

NEW_USER, NEW_UTS = 0x10000000, 0x04000000


def become(host):
    """Gives this process, which is about to become a program, a host name of its own."""
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_UTS | (NEW_USER if user else 0)):
        raise OSError(ctypes.get_errno(), "a name for a host needs a namespace of its own")
    if user:
        for file, text in [("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")]:
            with open(f"/proc/self/{file}", "w", encoding="ascii") as map_file:
                map_file.write(text)
    socket.sethostname(host)


def can_name_hosts():
    try:
        return subprocess.run(["true"], preexec_fn=lambda: become("alpha"), check=False).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False
