"""What the dashboard changes, which takes the token: cancel, pause and resume, retry."""

import re

from playwright.sync_api import expect


def check_cancel(page, server):
    identifier = server.submit({"name": "long-job", "group": [{"id": "crawl", "run": "sleep 600"}, {"id": "index", "after": "crawl", "run": "true"}]})
    server.wait("it runs", lambda: server.counts(identifier)["running"] == 1)
    page.goto(server.url(f"/#/s/{identifier}"))
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel it").click()
    dialog = page.locator("#token-dialog")
    expect(dialog).to_be_visible()
    server.shot(page, "token")
    assert server.state(identifier) == "running", "without the token nothing is cancelled"
    page.get_by_label("Token", exact=True).last.fill("0" * 64)
    page.get_by_role("button", name="Use it").click()
    expect(dialog).to_contain_text("not the right one")
    assert server.state(identifier) == "running", "with a wrong one neither"
    page.get_by_label("Token", exact=True).last.fill(server.token)
    page.get_by_role("button", name="Use it").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Keep it as it is").click()
    assert server.state(identifier) == "running", "who thinks better of it has changed nothing"
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel it").click()
    expect(page.locator(".title .state")).to_have_text("cancelled")
    assert server.state(identifier) == "cancelled"
    print("cancel: refused without the token and with a wrong one, done with it")


def check_pause(page, server):
    """What is paused begins nothing more, what runs goes on; resumed it goes on where it was. Of one operation as well."""
    identifier = server.submit({"name": "import", "ordered": [
        {"id": "first", "run": server.gate("first")},
        {"id": "rest", "group": [{"id": "left", "run": "echo left"}, {"id": "right", "run": "echo right"}]},
    ]})
    server.wait("the first one runs", lambda: server.counts(identifier)["running"] == 1)
    page.goto(server.url(f"/#/s/{identifier}/operations"))
    state = page.locator(".title .state")
    expect(state).to_have_text("running")
    expect(page.get_by_role("button", name="Resume")).to_be_hidden()
    page.get_by_role("button", name="Pause").click()
    expect(state).to_have_text("paused")
    expect(page.locator(".title .lead")).to_contain_text("paused")
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    server.open_gate("first")
    rows = page.locator(".op-row")
    expect(rows.filter(has_text="first")).to_contain_text("succeeded")
    expect(rows.filter(has_text="left")).to_contain_text(re.compile("blocked|paused"))
    assert server.counts(identifier)["succeeded"] == 1, "nothing more has begun"
    page.goto(server.url(f"/#/s/{identifier}/op/rest/right"))
    expect(page.locator(".blocker").last).to_contain_text(f"{identifier} is paused since")
    page.goto(server.url(f"/#/s/{identifier}/operations"))
    page.get_by_role("button", name="Resume").click()
    expect(state).to_have_text("succeeded")

    single = server.submit({"name": "import", "ordered": [{"id": "begin", "run": server.gate("begin-single")}, {"id": "one", "run": "true"}]})
    page.goto(server.url(f"/#/s/{single}/op/one"))
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    server.open_gate("begin-single")
    expect(state).to_have_text("paused")
    page.get_by_role("button", name="Resume").click()
    expect(state).to_have_text("succeeded")
    assert server.state(single) == "succeeded"
    print("pause and resume: of a submission and of one operation")


def check_retry(page, server):
    """Again from the page: only what failed, or all of it. One comes to the new submission, and the old one stays as it was."""
    identifier = server.submit({"name": "upload", "onFailure": "continue", "group": [
        {"id": "photos", "run": f"echo once >>{server.path('photos')}"},
        {"id": "videos", "run": f"test -e {server.path('reachable')} || {{ echo 'no route to the archive' >&2; exit 69; }}"},
    ]})
    server.wait("it has failed", lambda: server.state(identifier) == "failed")
    page.goto(server.url(f"/#/s/{identifier}/failures"))
    expect(page.locator(".failure")).to_contain_text("no route to the archive")
    server.open_gate("reachable")
    page.get_by_role("button", name="Retry what failed").click()
    page.wait_for_url(re.compile(rf"#/s/(?!{identifier})[0-9a-z]+$"))
    state = page.locator(".title .state")
    expect(state).to_have_text("succeeded")
    again = page.url.rsplit("/", 1)[1]
    expect(page.locator(".crumbs")).to_contain_text(again)
    assert server.state(again) == "succeeded" and server.state(identifier) == "failed"
    expect(page.get_by_role("button", name="Retry what failed")).to_be_hidden()
    with open(server.path("photos"), encoding="ascii") as file:
        assert file.read() == "once\n", "what had succeeded has not run again"
    page.get_by_role("button", name="Run all again").click()
    page.wait_for_url(re.compile(rf"#/s/(?!{identifier}|{again})[0-9a-z]+$"))
    expect(state).to_have_text("succeeded")
    with open(server.path("photos"), encoding="ascii") as file:
        assert file.read() == "once\nonce\n", "all of it has run again"
    print("retry: what failed alone, and all of it")


def check_refused(page, server):
    """Without the token nothing is paused, resumed or retried either."""
    page.evaluate("sessionStorage.clear()")
    failed = next(one["id"] for one in server.ask("/submissions")["submissions"] if one["state"] == "failed")
    known = len(server.ask("/submissions")["submissions"])
    held = server.submit({"name": "held", "group": [{"id": "one", "run": server.gate("held")}]})
    server.wait("it runs", lambda: server.counts(held)["running"] == 1)
    for identifier, button in [(failed, "Retry what failed"), (failed, "Run all again"), (held, "Pause")]:
        page.goto("about:blank")
        page.goto(server.url(f"/#/s/{identifier}"))
        page.get_by_role("button", name=button).click()
        expect(page.locator("#token-dialog")).to_be_visible()
        page.get_by_role("button", name="Close").click()
    assert server.state(held) == "running" and len(server.ask("/submissions")["submissions"]) == known + 1
    server.open_gate("held")
    server.wait("it has ended", lambda: server.state(held) == "succeeded")
    print("without the token nothing is paused or retried")
