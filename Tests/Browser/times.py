"""The timeline: who ran what when, with attempts that failed and were lost, and an axis that people can read."""

import os
import re
import signal

from playwright.sync_api import expect

# Between two marks of the axis, in milliseconds.
STEPS = {unit * one for unit, ones in [(1, (1, 2, 5, 10, 20, 50, 100, 200, 500)), (1000, (1, 2, 5, 10, 15, 30)), (60_000, (1, 2, 5, 10, 15, 30))] for one in ones}
UNITS = {"ms": 1, "s": 1000, "min": 60_000}


def milliseconds(text):
    return round(sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+) (ms|s|min)", text)))


def open_timeline(page, server, identifier):
    page.goto("about:blank")
    page.goto(server.url(f"/#/s/{identifier}/timeline"))
    canvas = page.locator(".timeline canvas")
    expect(canvas).to_have_attribute("data-axis", re.compile("^0, "))
    return canvas


def check_attempts(page, server):
    """What was tried again is shown with how it ended: on the operation's page, and as a bar of its own."""
    warm = server.path("warm")
    identifier = server.submit({"name": "flaky", "group": [{
        "id": "lamp", "run": f"sleep 0.3; test -e {warm} || {{ touch {warm}; echo 'the lamp is cold' >&2; exit 75; }}",
        "retry": {"attempts": 2, "backoff": {"initial": "50ms"}}}]})
    page.goto(server.url(f"/#/s/{identifier}/op/lamp"))
    attempts = page.locator(".part", has=page.get_by_role("heading", name="Earlier attempts"))
    expect(attempts).to_contain_text("failed")
    expect(attempts).to_contain_text("attempt 1 on ")
    expect(attempts).to_contain_text("the lamp is cold")
    server.wait("it has succeeded", lambda: server.state(identifier) == "succeeded")
    canvas = open_timeline(page, server, identifier)
    expect(page.locator(".timeline .legend")).to_contain_text("failed and tried again 1")
    canvas.hover(position={"x": 140, "y": 34})
    expect(page.locator(".graph-info")).to_contain_text("attempt 1 failed")
    print("attempts: what failed and was tried again is a bar that says so")


def check_lost(page, server):
    """What failed, and what was lost with its worker, has a mark above the lines, also of what happens while one looks."""
    identifier = server.submit({"name": "survey", "onFailure": "continue", "group": [
        {"id": "plan", "run": "sleep 0.2; echo 'no such street' >&2; exit 4"},
        *({"id": f"district-{i}", "run": server.gate("survey")} for i in range(5)),
        {"id": "measure", "run": "sleep 0.6", "after": "district-0"},
    ]})
    server.wait("five run", lambda: server.counts(identifier)["running"] == 5)
    canvas = open_timeline(page, server, identifier)
    legend, info = page.locator(".timeline .legend"), page.locator(".graph-info")
    expect(legend).to_contain_text("failed 1")
    expect(legend).not_to_contain_text("lost")
    victim = next(one for one in server.attached() if one["running"] > 0)
    os.kill(victim["pid"], signal.SIGKILL)
    expect(legend).to_contain_text(re.compile(r"lost [1-5]"))
    # It is not taken for one that is running still.
    expect(legend).to_contain_text(re.compile(r"running \d"))
    server.wait("the worker has come back", lambda: any(one["id"] == victim["id"] and one["pid"] != victim["pid"] for one in server.attached()))
    page.goto(server.url("/#/workers"))
    events = page.get_by_label("What happened to workers")
    expect(events).to_contain_text(f"lost {victim['id']}: its process has died")
    expect(events.locator("li").first).to_contain_text(f"joined {victim['id']}")
    server.shot(page, "workers")
    server.open_gate("survey")
    server.wait("it has ended", lambda: server.state(identifier) == "failed")
    canvas = open_timeline(page, server, identifier)
    found = set()
    width = int(canvas.bounding_box()["width"])
    for x in range(130, width, 2):
        canvas.hover(position={"x": x, "y": 34})
        found.add(info.inner_text())
        if any("plan" in one for one in found) and any("lost" in one for one in found):
            break
    assert any("plan" in one for one in found) and any("lost" in one and "district" in one for one in found), found
    server.shot(page, "timeline")
    print("timeline: failed and lost attempts are marked above the lines, while one looks and afterwards")


def check_axis(page, server):
    """The marks of the axis are even, and numbers that people count in, however long it took and however wide the page is."""
    identifiers = [server.submit({"name": "axis", "group": [{"id": "one", "run": f"sleep {seconds}"}]}) for seconds in (0.07, 0.9, 2.3)]
    seen = []
    for identifier in identifiers:
        server.wait("it has ended", lambda: server.state(identifier) == "succeeded")
        for width in (1280, 900, 390):
            page.set_viewport_size({"width": width, "height": 700})
            axis = open_timeline(page, server, identifier).get_attribute("data-axis")
            marks = [milliseconds(one) for one in axis.split(", ")]
            assert len(marks) >= 2 and {b - a for a, b in zip(marks, marks[1:])} <= {marks[1]} and marks[1] in STEPS, axis
            seen.append(axis)
    page.set_viewport_size({"width": 1280, "height": 860})
    print(f"axis of the timeline: {seen[0]} | {seen[-1]}")
