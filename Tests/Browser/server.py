"""What the dashboard is tried on: a coordinator with workers, its API, gates that hold operations until a test opens them, and pictures."""

import json
import os
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from hosts import become, can_name_hosts


class Server:
    def __init__(self, aop, shots):
        self.aop, self.shots = aop, shots
        self.directory = tempfile.mkdtemp(prefix="aop-browser-")
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.directory, "XDG_STATE_HOME": f"{self.directory}/state", "LANG": "C.UTF-8",
            "AOP_COORDINATOR": f"ipc://{self.directory}/aop.sock", "AOP_CONFIG": "/dev/null", "TMPDIR": self.directory,
        }
        # The name of this machine is no matter of the pictures.
        self.host = "alpha" if can_name_hosts() else None
        self.processes = []
        # Names of the pictures that were taken.
        self.taken = set()

    def start(self, program, *arguments):
        process = subprocess.Popen([program, *arguments], env=self.environment, cwd=self.directory, stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.DEVNULL, preexec_fn=(lambda: become(self.host)) if self.host else None)
        self.processes.append(process)
        return process

    def begin(self):
        coordinator = self.start(self.aop, "coordinator", "--listen", self.environment["AOP_COORDINATOR"], "--http", "127.0.0.1:0",
                                 "--data", f"{self.directory}/data", "-o", "json")
        said = json.loads(coordinator.stdout.readline())
        self.address = said["http"]
        with open(said["httpToken"], encoding="ascii") as file:
            self.token = file.read().strip()

    def start_worker(self, *flags, program=None):
        return self.start(program or self.aop, *([] if program else ["worker"]), "--connect", self.environment["AOP_COORDINATOR"], "--grace", "1s",
                          *flags)

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            process.wait(timeout=30)

    # Its API

    def ask(self, path, body=None):
        request = urllib.request.Request(f"http://{self.address}/api/v1{path}", data=None if body is None else body.encode(),
                                         headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.read().decode()}") from error

    def submit(self, graph):
        return self.ask("/submissions", json.dumps(graph))["id"]

    def state(self, identifier):
        return self.ask(f"/submissions/{identifier}")["state"]

    def counts(self, identifier):
        return self.ask(f"/submissions/{identifier}")["counts"]

    def attached(self):
        return [one for one in self.ask("/workers")["workers"] if one["state"] == "attached"]

    @staticmethod
    def wait(what, condition):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.05)
        raise AssertionError(f"not within a minute: {what}")

    # Gates

    def gate(self, name):
        """A command that ends when the gate is open."""
        return f"until [ -e {self.path(name)} ]; do sleep 0.05; done"

    def open_gate(self, name):
        with open(self.path(name), "w", encoding="ascii"):
            pass

    def path(self, name):
        return f"{self.directory}/{name}"

    # Pages

    def url(self, place="/"):
        return f"http://{self.address}{place}"

    def shot(self, page, name):
        page.screenshot(path=os.path.join(self.shots, f"{name}.png"))
        self.taken.add(name)
