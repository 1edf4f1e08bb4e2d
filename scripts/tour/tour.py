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
from cluster import Cluster
from hosts import can_name_hosts
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

    def drawn(self, svg, as_name):
        """The picture that a command has drawn, as pixels."""
        with open(svg, encoding="utf-8") as file:
            text = self.neutral.text(file.read())
        with open(svg, "w", encoding="utf-8") as file:
            file.write(text)
        self.screens.drawn(svg, as_name)

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

This page walks through `aop` on one run of 5,000 operations: operations fail, a lock is in the way, a worker process is killed, and so is the
coordinator. It takes ten minutes to read. Everything in it has really run: `make tour` runs it again, writes this page and its pictures, and fails
where anything is not as the text says. Only paths, ids, keys, ports and the date have been replaced. A line that is too long ends with `…`, and where
lines of a long output are left out, a line says how many.

The story: an archive has twelve boxes of 412 scanned pages each. Tonight the words on every page are counted, every box is photographed and entered
into the catalogue, and in the end the catalogue is published, once somebody has approved it. Not everything goes well.""")


def one_command(tour):
    tour.say("""\
## 1. One command, nothing to set up

Five pages first. A graph file names commands, and says what waits for what:""")
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
`aop run` starts a private coordinator and workers, runs the graph, and leaves nothing behind. `files` delivers a list, `count` has one
child for each line of it, and `sum` reads what the children deliver.""")
    expected = sum(archive.words("01", page) for page in archive.PAGES[:5])
    output = tour.run("aop run first.yaml", says=[f"{expected}", "succeeded: 7 operations"])
    tour.neutral.know_id(output.rstrip().rsplit(" ", 1)[1].rstrip(")"))
    tour.say("""\
`aop dev` does the same and stays until Ctrl-C, with a dashboard for the browser (`--open` opens it on a desktop):""")
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

A coordinator keeps all work on its disk and gives it to workers. The coordinator and the workers of two hosts, `alpha` and `beta`, have a terminal
each; they may be started in any order. Each host has two cameras, which are a *resource*: a name and a number, and nothing more.""")
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
    tour.say("What is configured, and where each value comes from; here only what the configuration file says:")
    tour.run("aop config show | grep -e SETTING -e config.yaml", says="flight-recorder")
    return coordinator


def write_graph(tour):
    tour.say("""\
## 3. A graph of 5,000 operations

A graph is data, so a program may write it. The one of tonight has 5,000 operations. Here are its beginning, one of the twelve
boxes without most of its pages, and its end.""")
    with open(f"{tour.cluster.directory}/archive.yaml", encoding="utf-8") as file:
        text = file.read()
    lines = text.splitlines()
    box = lines.index("  - id: box-02")
    last = next(index for index, line in enumerate(lines) if "box-01/411.txt" in line)
    tail = next(index for index, line in enumerate(lines) if line.startswith("  - id: total"))
    first = next(index for index, line in enumerate(lines) if "box-01/001.txt" in line)
    shown = lines[:first + 1] + ["      # … 409 more pages …"] + lines[last:box - 1] + ["  # … 11 more boxes …"] + lines[tail:]
    tour.file("\n".join(shown))
    tour.say("A mistake is told with its line and column, all mistakes of a file at once, and nothing is submitted. Say `draft.yaml` is the same graph, typed in a hurry:")
    draft = text
    for right, wrong in [("exclusive: cat", "exlusive: cat"), ("initial: 1s", "initial: 1"), ("after: total", "after: totl")]:
        draft = draft.replace(right, wrong, 1)
    with open(f"{tour.cluster.directory}/draft.yaml", "w", encoding="utf-8") as file:
        file.write(draft)
    tour.run("aop check draft.yaml", code=6, says=["did you mean `exclusive`", "no unit", "totl", "3 errors"])
    tour.run("aop check archive.yaml", says="ok")
    tour.say("`--plan` says what each operation needs, and which workers could run it:")
    tour.run("aop check archive.yaml --plan | head -n 8", says=["cameras=1", "alpha/0", "beta/1"])
    tour.say("And a picture, before anything runs. The twelve boxes of 414 operations are folded here; `--depth 2` unfolds them, and so does the dashboard.")
    tour.draw("aop graph archive.yaml --depth 1 --to archive.svg", "archive.svg", says="svg")
    tour.keep("archive.svg", "tour-graph-file.svg")
    tour.book.picture("tour-graph-file.svg", "The graph before it runs: the lamp, twelve boxes, their indexes, the total, and what follows")


def submit(tour):
    tour.say("""\
## 4. Work begins

Somebody else is at work this evening: a maintenance job holds the lock `catalogue`. Remember it.""")
    maintenance = tour.submit("aop submit maintenance.yaml", says="next:")
    tour.wait("the maintenance runs", lambda: tour.operations(maintenance)["compact"]["state"] == "running")
    tour.say("Now the archive. The key makes it safe to submit it twice: the same graph with the same key is one submission.")
    work = tour.submit("aop submit archive.yaml --key night-12")
    tour.run("aop submit archive.yaml --key night-12", says=f"the key was used before: this is submission {work}")
    tour.check(tour.counts(work)["total"] >= 4980, "all but the forEach's children are known")
    tour.say("`aop watch` shows it live, until it ends or until Ctrl-C, of which the work takes no notice:")
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

Let us see which processes there are, and kill one that is photographing a box, so that it cannot say goodbye.""")
    tour.run("aop workers")
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
Its supervisor on the host saw it end, killed the commands that it had left behind, told the coordinator, and started another process. What ran there
runs again at once, elsewhere: {len(lost)} operations had an attempt that does not count. None of them has failed by that.""")
    tour.run("aop workers")
    tour.say("The cluster's events tell it, too:")
    tour.run("aop events --since 10m | grep ' worker '", says=[f"lost       {worker['id']}: its process has died", f"joined     {worker['id']}"])
    tour.say("And what had been photographed there says what has become of it:")
    tour.run(f"aop explain last/{path}", says=["lost"])
    tour.look("/#/workers", "tour-workers.png", "The workers in the dashboard, with their slots and resources, and what happened to them",
              lambda page: page.get_by_label("What happened to workers").get_by_text("lost").wait_for(), height=780)
    return path, lost


def pause(tour, maintenance, work):
    tour.say("""\
## 6. A break

Someone has to clean the scanner. After `aop pause` nothing more of it begins; what runs goes on to its end.""")
    tour.run("aop pause last")
    tour.wait("nothing of it runs", lambda: tour.counts(work)["running"] == 0)
    tour.run("aop list", says=["paused", "maintenance"])
    tour.run("aop show last --operations none", says=["paused", "5000:"])
    tour.say("""\
A good moment to look at the dashboard, which the coordinator serves at `http://127.0.0.1:7601/`. It needs no network and nothing but a browser.""")
    tour.look("/", "tour-overview.png", "The dashboard: both submissions with their counts",
              lambda page: page.get_by_text("paused").first.wait_for(), height=300)
    tour.say("The graph as it stands. A green square is an operation that has succeeded; a click, or Enter, opens it.")

    def graph(page):
        page.wait_for_selector(".graph[data-ready]", timeout=20_000)

    tour.look(f"/#/s/{work}/graph", "tour-graph.png", "5,000 operations as they stand, in the browser", graph, height=760)
    tour.say("""\
A single worker process may have a break as well. A *drained* worker is given nothing new until somebody resumes it, not even after a restart.""")
    # That of the maintenance job goes on until that is told to end.
    idle = "beta/0" if tour.operations(maintenance)["compact"]["worker"] == "beta/1" else "beta/1"
    tour.run(f'aop workers drain {idle} --reason "its camera is cleaned" --wait', says="drained; nothing runs there")
    tour.run(f"aop workers show {idle}", says=["drained", "its camera is cleaned"])
    tour.run(f"aop workers resume {idle}", says=idle)
    tour.run("aop resume last")


def kill_coordinator(tour, work, coordinator):
    tour.say("""\
## 7. The coordinator is killed

`kill -9`, in the middle of everything.""")
    before = tour.wait("it goes on", lambda: (tour.counts(work)["running"] > 0 and tour.counts(work)) or None)
    coordinator.kill()
    coordinator.wait()
    tour.neutral.know_pid(coordinator.pid)
    tour.book.transcript(f"kill -9 {coordinator.pid}          # the coordinator", "")
    tour.run("aop list --connect-timeout 1s", code=69, says="no coordinator")
    tour.say("What runs on the workers goes on meanwhile, and they keep what comes of it. The coordinator is started again:")
    other = tour.cluster.start("alpha", "aop coordinator", "second.log")
    tour.wait("it listens again", lambda: "next" in tour.cluster.log("second.log"))
    tour.book.transcript("aop coordinator", tour.cluster.log("second.log"))
    after = tour.counts(work)
    tour.check(after["succeeded"] >= before["succeeded"], f"what was acknowledged is there: {before}, {after}")
    tour.run("aop list", says="running")
    tour.say("Everything that was acknowledged is there, and the work goes on. Nothing else had to be done.")
    return other


def lock(tour, maintenance, work):
    tour.say("""\
## 8. Everything waits. For what?

The pages are read, the boxes are photographed, and yet it does not come to an end:""")
    tour.wait("nine indexes wait for the lock", lambda: [one["waitingCount"] for one in tour.ask("locks")["locks"]] == [9])
    tour.wait("nothing else is to be done", lambda: tour.counts(work)["running"] == 0)
    tour.run("aop list", says="archive")
    tour.say("`aop explain` is for that. It names everything that is in the way, and where to look next.")
    tour.run("aop explain last", says=["9  lock", "`catalogue`", f"held by {maintenance}/compact", "index-01"])
    tour.run("aop explain last/index-01", says=[f"waits for the lock `catalogue`, held by {maintenance}/compact on ", "with the token"])
    tour.say("""\
Nine operations wait for the lock that the maintenance job holds. Each attempt under a lock has a *fencing token*, a number that only ever rises: what
the lock protects can refuse a smaller one than it has seen, even from a host that was frozen and wakes up.""")
    tour.run("aop locks list", says=[f"{maintenance}/compact", "catalogue"])
    tour.run("aop locks show catalogue", says=["held", "9.    "])
    tour.look("/#/locks", "tour-locks.png", "The lock, its holder and its line, in the dashboard",
              lambda page: page.get_by_text("9 in line").wait_for(), height=480)
    tour.look(f"/#/s/{work}/op/index-01", "tour-operation.png", "One operation: what is in its way, and what to do about that",
              lambda page: page.locator(".blocker").first.wait_for(), height=640)
    tour.say("What does the holder do, all that time?")
    tour.run(f"aop logs {maintenance}", says="compacting")
    tour.say("""\
That can wait. `aop locks release --force` cancels whatever holds the lock, and returns when nothing of it runs any more; by then the next in line has it.
(With `--now` it does not wait, and what the old holder still reports is refused.)""")
    tour.run('aop locks release catalogue --force --reason "the archive goes first"', says=f"{maintenance}/compact: cancelled")
    tour.run(f"aop explain {maintenance}/compact", says="its lock `catalogue` is released by force: the archive goes first")


def failures(tour, work, path, lost):
    tour.say("""\
## 9. It has failed. Why?

Now it comes to its end, and `aop wait` says how: the exit code 2 is for *failed*. (It also prints what happened meanwhile, and every value.)""")
    tour.run("aop wait last", code=2, says="failed: 5000 operations, 9 failed", head=3, tail=1)
    counts = tour.counts(work)
    tour.check(counts == {"total": archive.OPERATIONS, "succeeded": 4988, "failed": 9, "cancelled": 3, "running": 0, "pending": 0}, f"{counts}")
    operations = tour.operations(work)
    tour.check(all(operations[name]["state"] == "succeeded" and operations[name]["attempts"] >= 2 for name in lost),
               f"what ran in the killed process has succeeded in another attempt: {[operations[name] for name in lost]}")
    tour.check(operations["lamp"]["attempts"] == 2, "the lamp was cold once")
    tour.say(f"""\
4,988 operations have succeeded, among them `{path}` and everything else that ran in the process that was killed. Nine have failed:""")
    tour.run("aop show last --operations failed", says=["box-03/057", "box-10/399", "not all dependencies succeeded"])
    tour.say("""\
Four pages failed by themselves. The rest comes after them: the indexes of their boxes, the total, the report, and `publish`, which has the condition
that nothing before it has failed. `aop explain` follows that from the end to where it began:""")
    tour.run("aop explain last/publish", says=["box-03/057", "NoFailedDependencies"])
    tour.run("aop logs last/box-03/057", says="057.txt")
    tour.say("So scans are missing. `minutes` says `whenReceivedFails: run`, and has run all the same; what has succeeded can be had as well:")
    tour.run("aop result last/minutes", says="not complete")
    tour.check(tour.ask("result last/index-01")["value"] == sum(archive.words("01", page) for page in archive.PAGES), "the words of box 01")
    tour.run("aop result last/index-01 -o json", says='"state":"succeeded"')
    tour.say("The dashboard has one entry for each cause, with all that ended with it:")

    def causes(page):
        page.locator(".failure").nth(len(archive.MISSING)).wait_for()
        tour.check(page.locator(".failure").count() == len(archive.MISSING) + 1, "four pages are the causes, and the condition of `publish`")
        page.locator(".same summary").first.click()

    tour.look(f"/#/s/{work}/failures", "tour-failures.png", "What failed, by its cause", causes)
    tour.say("All operations can be searched, and what all of them write can be read in one place:")
    tour.look(f"/#/s/{work}/operations", "tour-operations.png", "All operations as a list, by state, type and path",
              lambda page: page.get_by_text("box-01").first.wait_for(), height=480)
    tour.look(f"/#/s/{work}/log", "tour-log.png", "What all of them have written",
              lambda page: page.get_by_text("No such file").first.wait_for(), height=480)


def retry(tour, work):
    scans = f"{tour.cluster.directory}/scans"
    tour.say("""\
## 10. Mended, and only that run again

The four scans are found and copied. `aop retry --failed` submits the same graph again; what has succeeded keeps its value and does not run again.""")
    for box, page in archive.MISSING:
        archive.write_page(scans, box, page)
    second = tour.submit("aop retry last --failed")
    tour.wait("it waits for somebody to say yes", lambda: tour.ask(f"explain {second}/publish")["state"] == "evaluating")
    tour.wait("all that does not wait has ended",
              lambda: all(tour.operations(second)[name]["state"] == "succeeded" for name in ("report", "minutes")))
    begun = {one["path"] for one in tour.ask("events --since 1h")["events"] if one["id"] == second and one["event"] == "running" and one["path"]}
    again = {f"box-{box}/{page}" for box, page in archive.MISSING} | {f"index-{box}" for box, _ in archive.MISSING} | {"total", "report", "minutes"}
    tour.check(begun == again, f"only what had failed, and what comes after it, has run: {sorted(begun)}")
    tour.say(f"""\
This time {len(again)} operations have run: those that had failed, and those that come after one that had. The other
{archive.OPERATIONS - len(begun) - 3:,} have kept what they had, the {len(archive.BOXES)} labels of the `forEach` among them. One thing is left:""")
    tour.run("aop explain last/publish", says=["FileExists", "approved"])
    tour.say("""\
`publish` has the condition `fileExists: /srv/archive/scans/approved` with `wait: true`. Someone reads the report, finds it good, and approves it:""")
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
    tour.say("In spite of a killed worker, a killed coordinator and a second try, each of the twelve boxes stands in the catalogue exactly once:")
    tour.run("wc -l < scans/catalogue", says="12")
    return second


def pictures(tour, work):
    tour.say("""\
## 11. Who did what when

`aop timeline` draws the first run. Each attempt is a bar: amber is what failed and was tried again (the lamp, at the very beginning), orange what was
lost with the killed process. Above the lines is a mark for what failed for good (red), and for what was lost: with that process, or on its way to a
worker when the coordinator was killed. The gap in the middle is the break; later everything waited for the lock.""")
    svg = tour.draw(f"aop timeline {work} --to timeline.svg", "timeline.svg", says="svg")
    with open(svg, encoding="utf-8") as file:
        text = file.read()
    tour.check("attempts lost" in text, "the timeline shows what was lost")
    tour.check("lamp · failed and tried again · attempt 1" in text, "and what was tried again")
    tour.drawn(svg, "tour-timeline.png")
    tour.book.picture("tour-timeline.png", "The timeline: lines for each worker process, and above them what failed and what was lost")
    tour.say("In the dashboard it moves while work goes on, and a click on a bar opens its operation.")
    tour.look(f"/#/s/{work}/timeline", "tour-dashboard-timeline.png", "The timeline in the dashboard",
              lambda page: page.locator(".timeline canvas").wait_for(), height=600)
    tour.say("And one box, as the first run left it, with the page that was missing:")
    tour.drawn(tour.draw(f"aop graph {work}/box-03 --to box-03.svg", "box-03.svg", says="svg"), "tour-box.png")
    tour.book.picture("tour-box.png", "Box 03 with its 412 pages: one is red")
    tour.say("`--format dot` and `mermaid` are for other programs, `json` has everything.")
    tour.run("aop graph first.yaml --format mermaid", says="flowchart")


def events(tour, work, second):
    tour.say("""\
## 12. Everything that happened

`aop events` tells it, a line for each event; with `-f` as it happens, and with `-o jsonl` for programs. The end of the story:""")
    tour.run("aop events --since 10m | tail -n 6", says=["publish/announce", "archive"])
    tour.say("What happened to workers is known from the coordinator's start on. It was killed after the worker was, so there they come back to it:")
    tour.run("aop events --since 10m | grep ' worker '", says=["alpha/0: after a start of the coordinator"])
    told = {}
    for one in tour.ask("events --since 1h")["events"]:
        if one["id"] == work and one["path"] and one["event"] in ("succeeded", "failed", "cancelled"):
            told[one["path"]] = told.get(one["path"], 0) + 1
    operations = [path for path, one in tour.operations(work).items() if one["type"] not in ("group", "ordered", "forEach")]
    tour.check(len(operations) == archive.OPERATIONS and all(told.get(path) == 1 for path in operations), "each end is told once")
    tour.say("For a monitoring system there is `/metrics`, in Prometheus' format ([monitoring.md](monitoring.md)):")
    tour.run(f"curl -s http://127.0.0.1:{tour.cluster.http}/metrics | grep -E '^aop_(operations_total.*shell|submissions_known|workers|locks|slots)'",
             says=["aop_operations_total", "aop_workers"])


def operate(tour, coordinator):
    cluster = tour.cluster
    tour.say("""\
## 13. Looking after it

The catalogue is free again, so the maintenance job may have its turn. But it is late by now, and it is cancelled. `--wait` returns when nothing of
it runs any more; the exit code 4 is for *cancelled*.""")
    late = tour.submit("aop submit maintenance.yaml -o quiet")
    tour.wait("the maintenance runs", lambda: tour.operations(late)["compact"]["state"] == "running")
    tour.run('aop cancel last --reason "not tonight" --wait', code=4, says="cancelled")
    tour.say("""\
A backup is made while the coordinator runs; all of it is read again before it gets its name:""")
    tour.run(f"aop journal backup {tour.cluster.top}/backup", says="everything holds")
    tour.say("The rest of `aop journal` is for a coordinator that does not run. SIGTERM, or Ctrl-C in its terminal, ends it in an orderly way:")
    tour.neutral.know_pid(coordinator.pid)
    tour.book.transcript(f"kill {coordinator.pid}          # the coordinator", "")
    coordinator.terminate()
    tour.check(coordinator.wait(timeout=30) == 0, "SIGTERM ends the coordinator with 0")
    tour.say("Is the journal whole, after a `kill -9` in the middle of everything?")
    tour.run("aop journal verify --values", says=["everything holds", "4 submissions, 0 of them unfinished"])
    tour.say("Had files of large values been lost, it would be said there, and these values could be given up:")
    tour.run("aop journal give-up --dry-run", says="no large value is missing")
    tour.say("All that was ever decided can be had by programs, a fact a line; the last one is:")
    tour.run("aop journal export | tail -n 1", says='"fact"')
    tour.say("The flight recorder was on, so everything that the scheduler was told can be told to another one, and the decisions compared:")
    tour.run("aop journal replay", says="the same decisions, step by step")
    tour.say("The backup can be put in the place of the journal; what was there before is kept.")
    tour.run(f"aop journal restore {tour.cluster.top}/backup")
    tour.say("What would be forgotten, if disk were short?")
    tour.run("aop journal prune --older-than 1s --dry-run", says="4 submissions")
    tour.say("How fast is all that here? `aop bench` measures the library and a whole cluster. These figures are those of the machine on which this page was made:")
    tour.run("aop bench L1 W1 --n 20000 --repeat 1", says=["L1", "W1"])
    tour.say("And shells complete commands and flags, when they have been told how:")
    completions = "~/.local/share/bash-completion/completions"
    tour.run(f"mkdir -p {completions} && aop --generate-completion-script bash >{completions}/aop")
    tour.check(cluster.run(f"bash -n {completions}/aop && wc -l <{completions}/aop")[0].strip().isdigit(), "bash can read it")


def more_hosts(tour):
    cluster = tour.cluster
    listen, keys = f"tcp://127.0.0.1:{cluster.port}", f"{cluster.directory}/keys"
    tour.say("""\
## 14. Another host, with keys

Off this host every connection is encrypted, and each side proves who it is ([security.md](security.md)). One command makes the keys, and a
coordinator that finds them lets nobody in without one. (It listens on loopback here, because the third host, `gamma`, is on this machine, too.)""")
    tour.run("aop keys init --dir keys", says="coordinator.key")
    command = f"aop coordinator --keys keys --listen {listen} --data keyed --http off"
    coordinator = cluster.start("alpha", command, "keyed.log")
    tour.wait("it listens, with keys", lambda: "next" in cluster.log("keyed.log"))
    tour.book.transcript(command, cluster.log("keyed.log"))
    tour.say("A host gets its key with a token that may be used once. The secret half of the key is made on that host, and stays there.")
    token = cluster.run(f"aop keys token gamma --dir keys --label zone=b --endpoint {listen} -o quiet")[0].strip()
    tour.check(token.startswith("aopj1."), f"a token is printed: {token}")
    tour.book.transcript(f"aop keys token gamma --dir keys --label zone=b --endpoint {listen} -o quiet", token[:12] + "…")
    tour.run("aop keys join - --dir gamma", host="gamma", given=token + "\n", says=["joined as gamma (work)"], shown="aop keys join - --dir gamma     # on gamma, with the token pasted")
    worker = f"aop worker --connect {listen} --key-file gamma/worker.key --label zone=b"
    process = cluster.start("gamma", worker, "gamma.log")
    tour.book.transcript(f"{worker}     # on gamma", "")
    tour.say("Who only hands work in has a key for that alone. Keys may be made by hand as well, and are taken back within a second:")
    tour.run("aop keys generate ci --dir keys", says="ci.key")
    tour.run("aop keys authorize ci --dir keys --role submit", says="ci (submit)")
    tour.run("aop keys list --dir keys", says=["worker", "gamma", "labels zone=b", "ci"])
    tour.run("aop keys revoke ci --dir keys", says="ci")
    cluster.environment["AOP_KEY"] = f"{keys}/admin.key"
    tour.book.transcript(f"export AOP_KEY={keys}/admin.key", "")
    gamma = tour.wait("gamma works", lambda: tour.ask("workers")["workers"])
    tour.neutral.know_pid(gamma[0]["pid"])
    tour.run("aop workers", says=["gamma/0", "zone=b"])
    tour.say("When the host goes back to its owner, it is given nothing new, its worker is stopped, and it is forgotten:")
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
        pause(tour, maintenance, work)
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
        tour.check(not tour.screens.complaints, f"the dashboard has no errors: {tour.screens.complaints}")
        end(tour)
        tour.book.write(f"{documents}/tour.md")
    finally:
        tour.screens.close()
        tour.cluster.end()
    print(f"{documents}/tour.md is written: {tour.checks} checks, {time.monotonic() - began:.0f} s")


main()
