"""The dashboard in a real Chromium: `scripts/check-dashboard.sh` runs it around a coordinator and workers of its own.

Usage: dashboard.py AOP SCREENSHOTS DOCUMENT [IMAGES]

Pictures of what it looks at go to SCREENSHOTS. Those that DOCUMENT shows (`images/dashboard-NAME.png`) must be among them, and are written to
IMAGES as well where that is given.

With DASHBOARD_FILES=Sources/Dashboard/Files the pages are those of that folder, to try a change without building the program.
"""

import os
import re
import sys

import looks
import steering
import times
import work
from chromium import Chromium, keep
from server import Server


def check_pictures(server, document, images):
    with open(document, encoding="utf-8") as file:
        shown = re.findall(r"images/dashboard-([a-z0-9-]+)\.png", file.read())
    missing = set(shown) - server.taken
    assert shown and not missing, f"{document} shows pictures that are not taken here: {sorted(missing)}"
    if images:
        for name in shown:
            with open(f"{server.shots}/{name}.png", "rb") as file:
                keep(file.read(), f"{images}/dashboard-{name}.png")
        print(f"{images}: {len(shown)} pictures of {document} are written")


def main():
    aop, shots, document = sys.argv[1:4]
    images = sys.argv[4] if len(sys.argv) > 4 else None
    server = Server(aop, shots)
    trial = os.path.join(os.path.dirname(os.path.realpath(aop)), "TrialWorker")
    try:
        server.begin()
        chromium = Chromium()
        page = chromium.page()
        work.check_empty(page, server)
        server.start_worker("--processes", "2", "--slots", "4", "--label", "fast", "--resource", "gpus=2", "--resource", "cpus=4", "--resource", "memory=8GiB")
        server.wait("two workers", lambda: len(server.attached()) == 2)
        work.check_live_counts(page, server)
        work.check_rate(page, server)
        work.check_pipeline(page, server)
        work.check_failures(page, server)
        work.check_places(page, server)
        work.check_cluster(page, server)
        times.check_attempts(page, server)
        times.check_lost(page, server)
        times.check_axis(page, server)
        work.check_large_graph(page, server)
        work.check_log(page, server)
        steering.check_cancel(page, server)
        steering.check_pause(page, server)
        steering.check_retry(page, server)
        steering.check_refused(page, server)
        work.check_hostile_names(page, server)
        looks.check_light_and_dark(page, server)
        looks.check_narrow(page, server)
        looks.check_keyboard(page, server)
        if os.path.exists(trial):
            server.start_worker("--slots", "1", program=trial)
            server.wait("a worker with more operations", lambda: len(server.attached()) == 3)
        work.check_progress(page, server, os.path.exists(trial))
        assert not chromium.complaints, chromium.complaints
        check_pictures(server, document, images)
        chromium.close()
    finally:
        server.end()


main()
