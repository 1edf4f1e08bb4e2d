"""The place of the tour: a home of its own, a coordinator, and two worker hosts with names of their own on this machine."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Tests/Browser"))
from hosts import become  # noqa: E402


def free_port(usual):
    """The usual one where nobody has it, else another one with as many digits."""
    for port in [usual, *range(7610, 9990, 10)]:
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no port of loopback is free")


class Cluster:
    def __init__(self, aop):
        self.top = tempfile.mkdtemp(prefix="aop-tour-")
        self.home, self.directory = f"{self.top}/home", f"{self.top}/archive"
        for path in [f"{self.home}/.config/aop", f"{self.top}/tmp", f"{self.top}/bin", self.directory]:
            os.makedirs(path)
        os.symlink(aop, f"{self.top}/bin/aop")
        self.port = free_port(7600)
        self.http = free_port(self.port + 1)
        self.dev = free_port(self.http + 1)
        self.configuration = f"{self.home}/.config/aop/config.yaml"
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write(f"listen: tcp://127.0.0.1:{self.port}\nhttp: 127.0.0.1:{self.http}\ncoordinator: tcp://127.0.0.1:{self.port}\n"
                       "flight-recorder: 268435456\n")
        self.environment = {
            "PATH": f"{self.top}/bin:/usr/local/bin:/usr/bin:/bin", "HOME": self.home, "TMPDIR": f"{self.top}/tmp", "LANG": "C.UTF-8",
            "AOP_CONFIG": self.configuration, "TERM": "xterm-256color",
        }
        self.processes = []

    @property
    def places(self):
        return {f"{self.top}/backup": "/srv/backup", self.home: "~", f"{self.top}/tmp": "/tmp", self.directory: "/srv/archive",
                "none in /etc/aop/keys": "none in ~/.config/aop/keys"}

    @property
    def ports(self):
        return {str(self.port): "7600", str(self.http): "7601", str(self.dev): "7602"}

    def start(self, host, command, log):
        """A program that stays, as on a host of this name."""
        file = open(f"{self.top}/{log}", "ab")
        process = subprocess.Popen(command.split(), env=self.environment, cwd=self.directory, stdout=file, stderr=file,
                                   preexec_fn=lambda: become(host), start_new_session=True)
        self.processes.append(process)
        return process

    def log(self, name):
        with open(f"{self.top}/{name}", encoding="utf-8") as file:
            return file.read()

    def run(self, command, host="alpha", given=None):
        """What a command line prints that is `given` to read, both outputs in one, and its exit code."""
        done = subprocess.run(["/bin/sh", "-c", command], env=self.environment, cwd=self.directory, input=given, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, check=False, preexec_fn=lambda: become(host))
        return done.stdout, done.returncode

    def ask(self, arguments):
        """What a command says as JSON."""
        done = subprocess.run(["aop", *arguments.split(), "-o", "json"], env=self.environment, cwd=self.directory, capture_output=True,
                              text=True, timeout=120, check=False)
        if not done.stdout:
            raise AssertionError(f"aop {arguments}: exit code {done.returncode}, {done.stderr}")
        return json.loads(done.stdout)

    def wait(self, what, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = condition()
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds} s: {what}")

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.top, ignore_errors=True)
