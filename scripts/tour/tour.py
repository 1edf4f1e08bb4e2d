"""`make tour`: every command and screen on a run of 5,000 operations, as a story in docs/tour.md. What it shows it also checks.

Usage: tour.py AOP DOCUMENTS

CHROMIUM names the browser for the dashboard's screens; without it the pictures stay as they are.
"""

import datetime
import os
import re
import signal
import sys
import time

import archive
from book import Book
from cluster import Cluster, can_name_hosts
from neutral import Neutral
from processes import is_below, youngest_command
from screens import NoScreens, Screens
from terminal import snapshot
from whole import missing_commands, missing_screens

PICTURES = "images"


class Tour:
    def __init__(self, aop, documents):
        self.documents = documents
        self.pictures = f"{documents}/{PICTURES}"
        os.makedirs(self.pictures, exist_ok=True)
        self.cluster = Cluster(aop)
        self.neutral = Neutral(self.cluster.places, self.cluster.ports, datetime.datetime.now(datetime.timezone.utc))
        self.book = Book(self.neutral)
        self.say, self.file = self.book.say, self.book.file
        self.ask, self.wait = self.cluster.ask, self.cluster.wait
        self.screens = NoScreens()
        # Of the dashboard, as they were looked at.
        self.places = []
        self.checks = 0

    def check(self, is_so, what):
        """What the document says, or shows, is so."""
        if not is_so:
            raise AssertionError(what)
        self.checks += 1

    def run(self, command, code=0, says=(), shown=None, host="alpha", given=None, **how):
        """Runs a command line, shows it as `shown` or as it is, and checks its exit code and what it must have said."""
        output, status = self.cluster.run(command, host, given)
        self.check(status == code, f"{command}: exit code {status} in place of {code}:\n{output[-2000:]}")
        for words in [says] if isinstance(says, str) else says:
            self.check(words in output, f"{command}: it does not say {words!r}:\n{output[-2000:]}")
        self.neutral.know_tokens(output)
        self.book.transcript(shown or command, output, code, **how)
        return output

    def submit(self, command, **how):
        output = self.run(command, **how)
        identifier = next(line for line in output.splitlines() if re.fullmatch("[0-9a-z]{10}", line))
        self.neutral.know_id(identifier)
        return identifier

    def operations(self, identifier):
        return {one["path"]: one for one in self.ask(f"show {identifier}")["operations"]}

    def counts(self, identifier):
        return self.ask(f"show {identifier} --operations none")["counts"]

    def draw(self, command, name, says=()):
        """A command that writes a picture, which goes into the document."""
        self.run(command, says=says)
        return f"{self.cluster.directory}/{name}"

    def keep(self, name, as_name):
        with open(f"{self.cluster.directory}/{name}", encoding="utf-8") as file:
            text = self.neutral.text(file.read())
        with open(f"{self.pictures}/{as_name}", "w", encoding="utf-8") as file:
            file.write(text)

    def look(self, place, name, caption, is_there, height=720):
        """A screen of the dashboard, when what must be on it is there."""
        page = self.screens.open(place)
        self.places.append(place)
        if page:
            is_there(page)
            self.checks += 1
        self.screens.take(name, height)
        self.book.picture(name, caption)


def begin(tour):
    tour.say("""\
# A tour

What there is, on one run of 5,000 operations, with failures, a lock in the way, a worker process that is killed, and a coordinator that is killed as
well. It takes ten minutes to read. All of it has really run: `make tour` does it anew, writes this page, and fails where something
is not as it is told here. Only paths, ids, keys, ports and the date have been replaced by others, and what is long is cut (`…`).

The story: an archive has twelve boxes with 412 scanned pages each. Tonight the words on each page are counted, each box is photographed and put into
the catalogue, and in the end the catalogue is published, if somebody says so. Not everything goes well.""")


def one_command(tour):
    tour.say("""\
## 1. One command, nothing to set up

Five pages first. A graph file names commands, and what waits for what:""")
    first = f"""\
name: first
vars: {{box: {tour.cluster.directory}/scans/box-01}}
ordered:
  - {{id: files, run: ls "$box" | head -n 5, output: lines}}
  - {{id: count, forEach: files, as: file, run: wc -w < "$box/$file", output: json}}
  - {{id: sum, receives: count, run: "tr -c '0-9' '\\\\n' | awk '{{n += $1}} END {{print n}}'", output: json}}
"""
    with open(f"{tour.cluster.directory}/first.yaml", "w", encoding="utf-8") as file:
        file.write(first)
    tour.file(first)
    tour.say("""\
`aop run` starts a private coordinator and workers for it, runs it, and leaves nothing behind. `files` delivers a list, `count` has one
child for each line of it, and `sum` reads what they deliver.""")
    expected = sum(archive.words("01", page) for page in archive.PAGES[:5])
    output = tour.run("aop run first.yaml", says=[f"{expected}", "succeeded: 7 operations"], head=4, tail=4)
    tour.neutral.know_id(output.rstrip().rsplit(" ", 1)[1].rstrip(")"))
    tour.say("""\
`aop dev` does the same and stays, with a dashboard for the browser, until Ctrl-C:""")
    cluster = tour.cluster
    command = f"aop dev first.yaml --http 127.0.0.1:{cluster.dev}"
    stays = cluster.start("alpha", command, "dev.log")
    tour.wait("the graph has ended", lambda: "the graph has ended; the cluster stays until Ctrl-C" in cluster.log("dev.log"))
    answer, _ = cluster.run(f"curl -s http://127.0.0.1:{cluster.dev}/api/v1/submissions")
    tour.check('"state":"succeeded"' in answer, f"its dashboard knows what has run: {answer}")
    stays.send_signal(signal.SIGINT)
    tour.check(stays.wait(timeout=30) == 0, "Ctrl-C ends it with the graph's outcome")
    output = cluster.log("dev.log")
    tour.neutral.know_id(re.search(r", ([0-9a-z]{10})\)", output)[1])
    tour.check(f"dashboard at http://127.0.0.1:{cluster.dev}/" in output, output)
    tour.book.transcript(command, output, head=5, tail=4)


def build_cluster(tour):
    cluster = tour.cluster
    tour.say("""\
## 2. A cluster

A coordinator keeps all work on its disk and gives it to workers. It and its two workers, the hosts `alpha` and `beta`, have a terminal each; they may
be started in any order. Each host has a camera that two can use at a time, which is a *resource*: nothing but a name and a number.""")
    coordinator = cluster.start("alpha", "aop coordinator", "coordinator.log")
    tour.wait("the coordinator listens", lambda: "next" in cluster.log("coordinator.log"))
    tour.book.transcript("aop coordinator", cluster.log("coordinator.log"))
    for host in ("alpha", "beta"):
        command = "aop worker --processes 2 --slots 4 --resource cameras=2 --resource cpus=4 --resource memory=8GiB"
        cluster.start(host, command, f"{host}.log")
    tour.book.transcript(f"{command}     # on alpha", "")
    tour.book.transcript(f"{command}     # on beta", "")
    workers = tour.wait("four processes work", lambda: len(tour.ask("workers")["workers"]) == 4 and tour.ask("workers")["workers"])
    tour.check({one["id"] for one in workers} == {"alpha/0", "alpha/1", "beta/0", "beta/1"}, f"the workers are {workers}")
    for one in workers:
        tour.neutral.know_pid(one["pid"])
    tour.say("In a fourth terminal: who is there, and is everything as it should be?")
    tour.run("aop workers list", says=["alpha/0", "beta/1", "attached"])
    tour.run("aop doctor", says=["ok       coordinator", "ok       workers"])
    tour.say("What is configured, and where each value comes from (here only what is not a default):")
    tour.run("aop config show", says="flight-recorder", keep=r"config\.yaml|SETTING|NAME")
    return coordinator


def write_graph(tour):
    tour.say("""\
## 3. A graph of 5,000 operations

A graph is data, so a program may write it. That of tonight has 5,000 operations in twelve boxes; here is its beginning, one of
the boxes without most of its pages, and its end.""")
    with open(f"{tour.cluster.directory}/archive.yaml", encoding="utf-8") as file:
        text = file.read()
    lines = text.splitlines()
    box = lines.index("  - id: box-02")
    last = next(index for index, line in enumerate(lines) if "box-01/411.txt" in line)
    tail = next(index for index, line in enumerate(lines) if line.startswith("  - id: total"))
    first = next(index for index, line in enumerate(lines) if "box-01/001.txt" in line)
    shown = lines[:first + 1] + ["      # … 409 more pages …"] + lines[last:box - 1] + ["  # … 11 more boxes …"] + lines[tail:]
    tour.file("\n".join(shown))
    tour.say("A mistake is told with its place, all mistakes of a file at once, and nothing is submitted. Say one wrote this in a hurry:")
    draft = text
    for right, wrong in [("exclusive: cat", "exlusive: cat"), ("initial: 1s", "initial: 1"), ("after: total", "after: totl")]:
        draft = draft.replace(right, wrong, 1)
    with open(f"{tour.cluster.directory}/draft.yaml", "w", encoding="utf-8") as file:
        file.write(draft)
    tour.run("aop check draft.yaml", code=6, says=["did you mean `exclusive`", "no unit", "totl", "3 errors"])
    tour.run("aop check archive.yaml", says="ok")
    tour.say("`--plan` says what each operation needs, and who could run it:")
    tour.run("aop check archive.yaml --plan", says=["cameras=1", "alpha/0", "beta/1"], head=8)
    tour.say("And a picture, before anything runs. Twelve groups of 414 are folded; they open in the dashboard, and with `--depth 2`.")
    tour.draw("aop graph archive.yaml --depth 1 --to archive.svg", "archive.svg", says="svg")
    tour.keep("archive.svg", "tour-graph-file.svg")
    tour.book.picture("tour-graph-file.svg", "The graph before it runs: the lamp, twelve boxes, their indexes, the total, and what follows")


def submit(tour):
    tour.say("""\
## 4. Work begins

Somebody else has been at it this evening: a maintenance job holds the lock `catalogue`. Remember it.""")
    maintenance = tour.submit("aop submit maintenance.yaml", says="next:")
    tour.wait("the maintenance runs", lambda: tour.operations(maintenance)["compact"]["state"] == "running")
    tour.say("Now the archive. The key makes it safe to say that twice: the same key and graph are submitted once.")
    work = tour.submit("aop submit archive.yaml --key night-12")
    tour.run("aop submit archive.yaml --key night-12", says=f"the key was used before: this is submission {work}", keep="^the key|^[0-9a-z]{10}$")
    tour.check(tour.counts(work)["total"] >= 4980, "all but the forEach's children are known")
    tour.say("`aop watch` shows it on a terminal, and goes on until it ends, or until Ctrl-C; the work does not mind.")
    screen, status = snapshot(["aop", "watch", "last", "--color", "never"], tour.cluster.environment, tour.cluster.directory,
                              lambda text: (ended(text) or 0) >= 700)
    tour.check(screen, "the live view shows how many have ended")
    tour.check(status == 130, f"the watching ends with 130, and not with {status}")
    tour.book.transcript("aop watch last", screen, 130)
    return maintenance, work


def ended(screen):
    """How many operations have ended, as the live view has it."""
    match = re.search(r"([\d,]+) ?(?:/|of) ?[\d,]+", screen)
    return int(match[1].replace(",", "")) if match else None


def kill_worker(tour, maintenance, work):
    tour.say("""\
## 5. A worker process is killed

Let us see who photographs a box just now, and kill that process, so that it cannot say goodbye.""")
    tour.run("aop workers", keep=r"ID|/")
    # That of the maintenance job is left alone: it is to wait with its lock.
    spared = tour.operations(maintenance)["compact"]["worker"]
    others = [one for one in tour.ask("workers")["workers"] if one["id"] != spared]

    def photographed():
        """A box that is photographed, and by whom; the one that began last, with most of its seconds before it."""
        found = youngest_command("/cover")
        return found and next(((found[0], one) for one in others if is_below(found[1], one["pid"])), None)

    path, worker = tour.wait("a box is being photographed", photographed)
    tour.run(f"kill -9 {worker['pid']}", shown=f"kill -9 {worker['pid']}          # {worker['id']}: {path} and others run there")

    def is_replaced():
        return any(one["id"] == worker["id"] and one["pid"] != worker["pid"] and one["state"] == "attached" for one in tour.ask("workers")["workers"])

    tour.wait("another process is in its place", is_replaced)
    for one in tour.ask("workers")["workers"]:
        tour.neutral.know_pid(one["pid"])
    lost = {name for name, one in tour.operations(work).items() if any(stage["event"] == "lost" for stage in one["history"])}
    tour.check(path in lost, f"{path} lost its attempt, and not only {lost}")
    tour.say(f"""\
Its supervisor on the host saw it end, killed what it had left behind, said so, and started another process. What ran there runs again, elsewhere, at
once: {len(lost)} operations had an attempt that does not count. Nothing was counted as a failure of theirs.""")
    tour.run("aop workers", keep=r"ID|/")
    tour.run(f"aop explain last/{path}", says=["lost"])
    tour.look("/#/workers", "tour-workers.png", "The workers in the dashboard, with their slots and resources, and what happened to them",
              lambda page: page.get_by_label("What happened to workers").get_by_text("lost").wait_for(), height=780)
    return path, lost


def pause(tour, work):
    tour.say("""\
## 6. A break

Someone has to clean the scanner. `aop pause` starts nothing more of it; what runs goes on to its end.""")
    tour.run("aop pause last")
    tour.wait("nothing of it runs", lambda: tour.counts(work)["running"] == 0)
    tour.run("aop list", says=["paused", "maintenance"])
    tour.run("aop show last --operations none", says=["paused", "5000:"])
    tour.say("""\
A good moment for the dashboard, which the coordinator serves at `http://127.0.0.1:7601/`. It needs no network and nothing but a browser.""")
    tour.look("/", "tour-overview.png", "The dashboard: both submissions with their counts",
              lambda page: page.get_by_text("paused").first.wait_for(), height=300)
    tour.say("The graph as it stands. A green square is an operation that has succeeded; a click, or Enter, opens it.")

    def graph(page):
        page.wait_for_selector(".graph[data-ready]", timeout=20_000)

    tour.look(f"/#/s/{work}/graph", "tour-graph.png", "5,000 operations as they stand, in the browser", graph, height=760)
    tour.say("""\
One process of a host may have a break as well: a *drained* worker is given nothing new, also not when it comes back after a restart, until
somebody resumes it.""")
    tour.run('aop workers drain beta/1 --reason "its camera is cleaned" --wait', says="drained; nothing runs there")
    tour.run("aop workers show beta/1", says=["drained", "its camera is cleaned"])
    tour.run("aop workers resume beta/1", says="beta/1")
    tour.run("aop resume last")


def kill_coordinator(tour, work, coordinator):
    tour.say("""\
## 7. The coordinator is killed

`kill -9`, in the middle of it.""")
    before = tour.wait("it goes on", lambda: (tour.counts(work)["running"] > 0 and tour.counts(work)) or None)
    coordinator.kill()
    coordinator.wait()
    tour.neutral.know_pid(coordinator.pid)
    tour.book.transcript(f"kill -9 {coordinator.pid}          # the coordinator", "")
    tour.run("aop list --connect-timeout 1s", code=69, says="no coordinator")
    tour.say("What runs in the workers goes on meanwhile, and they keep what comes of it. So the coordinator is started again:")
    other = tour.cluster.start("alpha", "aop coordinator", "second.log")
    tour.wait("it listens again", lambda: "next" in tour.cluster.log("second.log"))
    tour.book.transcript("aop coordinator", tour.cluster.log("second.log"), head=1)
    after = tour.counts(work)
    tour.check(after["succeeded"] >= before["succeeded"], f"what was acknowledged is there: {before}, {after}")
    tour.run("aop list", says="running")
    tour.say("Everything that was acknowledged is there, and it goes on; nothing had to be done for that.")
    return other


def lock(tour, maintenance, work):
    tour.say("""\
## 8. Everything waits. For what?

The pages are read, the boxes photographed, and yet it does not come to an end:""")
    tour.wait("nine indexes wait for the lock", lambda: [one["waitingCount"] for one in tour.ask("locks")["locks"]] == [9])
    tour.wait("nothing else is to be done", lambda: tour.counts(work)["running"] == 0)
    tour.run("aop list", keep="ID|archive")
    tour.say("`aop explain` is for that. It names everything that is in the way, and whom to ask.")
    tour.run("aop explain last", says=["9  lock", "`catalogue`", f"held by {maintenance}/compact", "index-01"])
    tour.run("aop explain last/index-01", says=[f"waits for the lock `catalogue`, held by {maintenance}/compact on ", "with the token"])
    tour.say("""\
Nine wait for the lock that the maintenance job holds. Each attempt under a lock has a *fencing token*, a number that rises for ever: what the
lock protects may refuse a smaller one than it has seen, even from a host that was frozen and wakes up.""")
    tour.run("aop locks list", says=[f"{maintenance}/compact", "catalogue"])
    tour.run("aop locks show catalogue", says=["held", "9.    "])
    tour.look("/#/locks", "tour-locks.png", "The lock, its holder and its line, in the dashboard",
              lambda page: page.get_by_text("9 in line").wait_for(), height=480)
    tour.look(f"/#/s/{work}/op/index-01", "tour-operation.png", "One operation: what is in its way, and what to do about that",
              lambda page: page.locator(".blocker").first.wait_for(), height=640)
    tour.say("What does it do, all that time?")
    tour.run(f"aop logs {maintenance}", says="compacting")
    tour.say("""\
That can wait. `aop locks release --force` cancels whoever holds the lock, and returns when nothing of it runs any more; the next in line has it by then.
(With `--now` it does not wait, and what the old holder still reports is refused.)""")
    tour.run('aop locks release catalogue --force --reason "the archive goes first"', says=f"{maintenance}/compact: cancelled")
    tour.run(f"aop show {maintenance} --operations none", says="the archive goes first")


def failures(tour, work, path, lost):
    tour.say("""\
## 9. It has failed. Why?

Now it comes to its end, and `aop wait` says how: 2 is for *failed*. (It also prints what happened meanwhile, and every value.)""")
    tour.run("aop wait last", code=2, says="failed: 5000 operations, 9 failed", head=3, tail=1)
    counts = tour.counts(work)
    tour.check(counts == {"total": archive.OPERATIONS, "succeeded": 4988, "failed": 9, "cancelled": 3, "running": 0, "pending": 0}, f"{counts}")
    operations = tour.operations(work)
    tour.check(all(operations[name]["state"] == "succeeded" and operations[name]["attempts"] >= 2 for name in lost),
               f"what ran in the killed process has succeeded in another attempt: {[operations[name] for name in lost]}")
    tour.check(operations["lamp"]["attempts"] == 2, "the lamp was cold once")
    tour.say(f"""\
4,988 have succeeded, among them `{path}` and all else that ran in the process that was killed. Nine have failed:""")
    tour.run("aop show last --operations failed", says=["box-03/057", "box-10/399", "not all dependencies succeeded"])
    tour.say("""\
Four pages failed by themselves. The rest are what comes after them: an index without its pages, the total without its index, and the
condition of `publish` that nothing before it has failed. `aop explain` tells it from the end to where it began:""")
    tour.run("aop explain last/publish", says=["box-03/057", "NoFailedDependencies"])
    tour.run("aop logs last/box-03/057", says="057.txt")
    tour.say("So scans are missing. `minutes` says `whenReceivedFails: run`, and has run all the same; what has succeeded can be had, too:")
    tour.run("aop result last/minutes", says="not complete")
    tour.check(tour.ask("result last/index-01")["value"] == sum(archive.words("01", page) for page in archive.PAGES), "the words of box 01")
    tour.run("aop result last/index-01 -o json", says='"state":"succeeded"')
    tour.look(f"/#/s/{work}/failures", "tour-failures.png", "The same in the dashboard: what failed, by its reason",
              lambda page: page.locator(".failure").first.wait_for())
    tour.look(f"/#/s/{work}/operations", "tour-operations.png", "All operations as a list, by state, type and path",
              lambda page: page.get_by_text("box-01").first.wait_for(), height=480)
    tour.look(f"/#/s/{work}/log", "tour-log.png", "What all of them wrote, as they write it",
              lambda page: page.get_by_text("No such file").first.wait_for(), height=480)


def retry(tour, work):
    scans = f"{tour.cluster.directory}/scans"
    tour.say("""\
## 10. Mended, and only that done again

The four scans are found and copied. `aop retry --failed` submits the same graph again; what has succeeded keeps its value and does not run.""")
    for box, page in archive.MISSING:
        archive.write_page(scans, box, page)
    second = tour.submit("aop retry last --failed")
    tour.wait("it waits for somebody to say yes", lambda: tour.ask(f"explain {second}/publish")["state"] == "evaluating")
    tour.wait("all that does not wait has ended",
              lambda: all(tour.operations(second)[name]["state"] == "succeeded" for name in ("report", "minutes")))
    begun = {one["path"] for one in tour.ask("events --since 1h")["events"] if one["id"] == second and one["event"] == "running" and one["path"]}
    again = {f"box-{box}/{page}" for box, page in archive.MISSING} | {f"index-{box}" for box, _ in archive.MISSING} | {"total", "report", "minutes"}
    labels = {f"label/{index}" for index in range(len(archive.BOXES))}
    tour.check(begun == again | labels, f"only what had failed, and what comes after it, has run: {sorted(begun)}")
    tour.say(f"""\
This time {len(again)} operations have run that had failed, or come after one that had; and the {len(labels)} labels, because
what a `forEach` made belongs to its run, and it runs again as a whole. The other {archive.OPERATIONS - len(begun) - 3:,} have kept what they had. One thing is left:""")
    tour.run("aop explain last/publish", says=["FileExists", "approved"])
    tour.say("""\
`publish` has the condition `fileExists: /srv/archive/scans/approved` with `wait: true`. Someone looks at the report, finds it good, and says yes:""")
    total = sum(archive.words(box, page) for box in archive.BOXES for page in archive.PAGES)
    tour.run("cat scans/report.txt", says=f"{total} words")
    tour.run("touch scans/approved")
    tour.run("aop wait last --timeout 1m", says=["succeeded: 5000 operations"], head=2, tail=5)
    tour.check(tour.counts(second)["succeeded"] == archive.OPERATIONS, "all of it has succeeded")
    tour.run("aop result last/publish/announce", says="the catalogue is out")
    tour.run("aop list")
    with open(f"{scans}/catalogue", encoding="utf-8") as file:
        lines = file.read().split()
    words = sorted(str(sum(archive.words(box, page) for page in archive.PAGES)) for box in archive.BOXES)
    tour.check(sorted(lines) == words, "each box stands in the catalogue once")
    tour.say("Through a killed worker, a killed coordinator and a second try each box stands in the catalogue exactly once:")
    tour.run("wc -l < scans/catalogue", says="12")
    return second


def pictures(tour, work):
    tour.say("""\
## 11. Who did what when

`aop timeline` draws it. The gap is the break. Each attempt is a bar: amber is what failed and was tried again (the lamp, in the beginning), orange what
was lost with the killed process. Above the lines is marked what failed for good (red), and what was lost. The rest of the time the lock was waited
for.""")
    svg = tour.draw(f"aop timeline {work} --to timeline.svg", "timeline.svg", says="svg")
    with open(svg, encoding="utf-8") as file:
        text = file.read()
    tour.check("attempts lost" in text, "the timeline shows what was lost")
    tour.check("lamp · failed and tried again · attempt 1" in text, "and what was tried again")
    with open(svg, "w", encoding="utf-8") as file:
        file.write(tour.neutral.text(text))
    tour.screens.drawn(svg, "tour-timeline.png")
    tour.book.picture("tour-timeline.png", "The timeline: lines for each worker process, and above them what failed and what was lost")
    tour.say("In the dashboard it moves while work goes on, and a bar leads to its operation.")
    tour.look(f"/#/s/{work}/timeline", "tour-dashboard-timeline.png", "The timeline in the dashboard",
              lambda page: page.locator(".timeline canvas").wait_for(), height=600)
    tour.say("And one box, as it was in the first run, with the page that was missing:")
    tour.draw(f"aop graph {work}/box-03 --to box-03.svg", "box-03.svg", says="svg")
    tour.screens.drawn(f"{tour.cluster.directory}/box-03.svg", "tour-box.png")
    tour.book.picture("tour-box.png", "Box 03 with its 412 pages: one is red")
    tour.say("`--format dot` and `mermaid` are for other programs, `json` has everything.")
    tour.run("aop graph first.yaml --format mermaid", says="flowchart")


def events(tour, work, second):
    tour.say("""\
## 12. Everything that happened

`aop events` tells it, a line each, with `-f` as it happens, and with `-o jsonl` for programs. The end of the story:""")
    tour.run("aop events --since 10m", says=["publish/announce", "archive"], head=0, tail=6)
    tour.say("It tells of workers, too, since the coordinator's start:")
    tour.run("aop events --since 10m", says=["alpha/0: after a start of the coordinator"], keep=r"Z  worker ")
    told = {}
    for one in tour.ask("events --since 1h")["events"]:
        if one["id"] == work and one["path"] and one["event"] in ("succeeded", "failed", "cancelled"):
            told[one["path"]] = told.get(one["path"], 0) + 1
    operations = [path for path, one in tour.operations(work).items() if one["type"] not in ("group", "ordered", "forEach")]
    tour.check(len(operations) == archive.OPERATIONS and all(told.get(path) == 1 for path in operations), "each end is told once")
    tour.say("For a monitoring system there is `/metrics`, in Prometheus' format ([monitoring.md](monitoring.md)):")
    tour.run(f"curl -s http://127.0.0.1:{tour.cluster.http}/metrics", says="aop_",
             keep=r"^aop_(operations_total.*shell|submissions_known|workers|locks|slots)")


def operate(tour, coordinator):
    cluster = tour.cluster
    tour.say("""\
## 13. Looking after it

The catalogue is free again, and the maintenance job may have its turn. But it is late by now, so it is cancelled. `--wait` returns when nothing of
it runs any more; then the exit code is 4, for *cancelled*.""")
    late = tour.submit("aop submit maintenance.yaml", head=1)
    tour.wait("the maintenance runs", lambda: tour.operations(late)["compact"]["state"] == "running")
    tour.run('aop cancel last --reason "not tonight" --wait', code=4, says="cancelled")
    tour.say("""\
A backup, beside the coordinator that runs; it is read again in whole before it gets its name:""")
    tour.run(f"aop journal backup {tour.cluster.top}/backup", says="everything holds")
    tour.say("The rest of `aop journal` is for a coordinator that does not run. SIGTERM, or Ctrl-C in its terminal, ends it in an orderly way.")
    coordinator.terminate()
    tour.check(coordinator.wait(timeout=30) == 0, "SIGTERM ends the coordinator with 0")
    tour.say("Is the journal whole, after a `kill -9` in the middle?")
    tour.run("aop journal verify --values", says=["everything holds", "4 submissions, 0 of them unfinished"])
    tour.say("All that was ever decided, a fact a line, for programs; the last one is:")
    tour.run("aop journal export | tail -n 1", says='"fact"')
    tour.say("The flight recorder was on, so all that the scheduler was told since its start can be told another one, and the decisions compared:")
    tour.run("aop journal replay", says="the same decisions, step by step")
    tour.say("The backup can be put in its place; what was there before is kept.")
    tour.run(f"aop journal restore {tour.cluster.top}/backup")
    tour.say("And what would be forgotten, if disk were short:")
    tour.run("aop journal prune --older-than 1s --dry-run", says="4 submissions")
    tour.say("How fast is all that here? `aop bench` measures the library and a whole cluster; the figures are those of the machine on which this page was made.")
    tour.run("aop bench L1 W1 --n 20000 --repeat 1", says=["L1", "W1"])
    tour.say("And the shell completes commands and flags, when it is told how:")
    tour.run("aop --generate-completion-script bash >aop.bash && bash -n aop.bash && wc -l <aop.bash",
             shown="aop --generate-completion-script bash >~/.local/share/bash-completion/completions/aop")


def more_hosts(tour):
    cluster = tour.cluster
    listen, keys = f"tcp://127.0.0.1:{cluster.port}", f"{cluster.directory}/keys"
    tour.say("""\
## 14. Another host, with keys

Off this host every connection is encrypted, and each side proves who it is ([security.md](security.md)). The keys are made with one command, and a
coordinator that finds them lets nobody in without one. (It listens on loopback here, because the third host, `gamma`, is on this machine, too.)""")
    tour.run("aop keys init --dir keys", says="coordinator.key")
    command = f"aop coordinator --keys keys --listen {listen} --data keyed --http off"
    coordinator = cluster.start("alpha", command, "keyed.log")
    tour.wait("it listens, with keys", lambda: "next" in cluster.log("keyed.log"))
    tour.book.transcript(command, cluster.log("keyed.log"))
    tour.say("A host gets its key with a token that may be used once; the secret half of the key is made there, and stays there.")
    token = cluster.run(f"aop keys token gamma --dir keys --label zone=b --endpoint {listen} -o quiet")[0].strip()
    tour.check(token.startswith("aopj1."), f"a token is printed: {token}")
    tour.book.transcript(f"aop keys token gamma --dir keys --label zone=b --endpoint {listen} -o quiet", token[:12] + "…")
    tour.run("aop keys join - --dir gamma", host="gamma", given=token + "\n", says=["joined as gamma (work)"], shown="aop keys join - --dir gamma     # on gamma, with the token pasted")
    worker = f"aop worker --connect {listen} --key-file gamma/worker.key --label zone=b"
    process = cluster.start("gamma", worker, "gamma.log")
    tour.book.transcript(f"{worker}     # on gamma", "")
    tour.say("Who only hands work in has a key for that alone. It may be made by hand as well, and is taken back within a second:")
    tour.run("aop keys generate ci --dir keys", says="ci.key")
    tour.run("aop keys authorize ci --dir keys --role submit", says="ci (submit)")
    tour.run("aop keys list --dir keys", says=["worker", "gamma", "labels zone=b", "ci"])
    tour.run("aop keys revoke ci --dir keys", says="ci")
    cluster.environment["AOP_KEY"] = f"{keys}/admin.key"
    tour.book.transcript(f"export AOP_KEY={keys}/admin.key", "")
    gamma = tour.wait("gamma works", lambda: tour.ask("workers")["workers"])
    tour.neutral.know_pid(gamma[0]["pid"])
    tour.run("aop workers", says=["gamma/0", "zone=b"])
    tour.say("And when the host goes back to where it was lent from: nothing new for it, its worker is stopped, and it is forgotten.")
    tour.run("aop workers drain gamma/0 --wait", says="drained")
    tour.neutral.know_pid(process.pid)
    tour.book.transcript(f"kill {process.pid}          # on gamma: SIGTERM, or Ctrl-C in its terminal", "")
    process.terminate()
    tour.check(process.wait(timeout=30) == 0, "SIGTERM ends a worker with 0")
    tour.wait("it is gone", lambda: tour.ask("workers")["workers"][0]["state"] == "drained")
    tour.run("aop workers remove gamma/0", says="gamma/0")
    tour.check(tour.ask("workers")["workers"] == [], "nothing is known of it any more")
    coordinator.terminate()
    tour.check(coordinator.wait(timeout=30) == 0, "SIGTERM ends the coordinator with 0")


def all_screens(tour, work):
    page = tour.screens.open(f"/#/s/{work}/graph")
    if page:
        page.locator("[role=tab]").first.wait_for()
        missing = missing_screens(page, tour.places)
        tour.check(not missing, f"these screens are not in the tour: {', '.join(missing)}")


def all_commands(tour):
    missing = missing_commands(lambda flag: tour.cluster.run(f"aop {flag}")[0], tour.book.commands)
    tour.check(not missing, f"these commands are not in the tour: {', '.join(missing)}")


def end(tour):
    tour.say("""\
## Where to go on

- [first-steps.md](first-steps.md): the same with your own hands, on one host and on two
- [concepts.md](concepts.md): the words, and what they mean; [graph-files.md](graph-files.md): every key of a graph file
- [command-line.md](command-line.md): every command; `aop COMMAND --help` has an example for each
- [guarantees.md](guarantees.md): what you can rely on, exactly""")


def main():
    aop, documents = os.path.realpath(sys.argv[1]), sys.argv[2]
    if not can_name_hosts():
        print("SKIPPED: the tour gives two worker hosts names of their own, and no namespace can be made here; docs/tour.md stays as it is")
        return
    began = time.monotonic()
    tour = Tour(aop, documents)
    try:
        archive.make(tour.cluster.directory)
        begin(tour)
        one_command(tour)
        coordinator = build_cluster(tour)
        if os.environ.get("CHROMIUM"):
            tour.screens = Screens(f"127.0.0.1:{tour.cluster.http}", tour.pictures, tour.neutral, tour.cluster.environment)
        write_graph(tour)
        maintenance, work = submit(tour)
        path, lost = kill_worker(tour, maintenance, work)
        pause(tour, work)
        coordinator = kill_coordinator(tour, work, coordinator)
        lock(tour, maintenance, work)
        failures(tour, work, path, lost)
        second = retry(tour, work)
        pictures(tour, work)
        events(tour, work, second)
        all_screens(tour, work)
        operate(tour, coordinator)
        more_hosts(tour)
        all_commands(tour)
        end(tour)
        tour.book.write(f"{documents}/tour.md")
    finally:
        tour.screens.close()
        tour.cluster.end()
    print(f"{documents}/tour.md is written: {tour.checks} checks, {time.monotonic() - began:.0f} s")


main()
