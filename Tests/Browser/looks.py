"""How the pages look and are used: light and dark, on a phone, and with a keyboard alone."""

from playwright.sync_api import expect

PHONE = 390
# Of text, as WCAG 2 has it for level AA.
CONTRAST_MIN = 4.5

CONTRASTS = """() => {
    const channel = value => { const c = value / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4 };
    const parse = text => { const m = text.match(/[\\d.]+/g).map(Number); return { rgb: m.slice(0, 3), alpha: m.length > 3 ? m[3] : 1 } };
    const light = rgb => 0.2126 * channel(rgb[0]) + 0.7152 * channel(rgb[1]) + 0.0722 * channel(rgb[2]);
    const behind = element => {
        for (let one = element; one; one = one.parentElement) {
            const colour = parse(getComputedStyle(one).backgroundColor);
            if (colour.alpha === 1) return colour.rgb;
        }
        return [255, 255, 255];
    };
    const found = new Map(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walk.nextNode());) {
        const element = node.parentElement;
        if (!node.data.trim() || !element.checkVisibility() || element.closest("script, style, dialog, .skip, :disabled")) continue;
        const style = getComputedStyle(element), [a, b] = [light(parse(style.color).rgb), light(behind(element))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05), key = `${element.tagName.toLowerCase()}.${element.className} "${node.data.trim().slice(0, 30)}"`;
        if (ratio < (found.get(key) ?? Infinity)) found.set(key, ratio);
    }
    return [...found];
}"""


def pages(server):
    """A place of each kind of page, by name, with what is there when it is drawn."""
    by_name = {one["name"]: one["id"] for one in server.ask("/submissions")["submissions"]}
    release, mirror, flaky, survey = by_name["release"], by_name["mirror"], by_name["flaky"], by_name["survey"]
    return [
        ("overview", "/", ".submissions li"), ("workers", "/#/workers", ".card"), ("locks", "/#/locks", "h1"),
        ("graph", f"/#/s/{release}/graph", ".graph[data-ready]"), ("timeline", f"/#/s/{survey}/timeline", "canvas[data-axis]"),
        ("operations", f"/#/s/{release}/operations", ".op-row"), ("failures", f"/#/s/{mirror}/failures", ".failure"),
        ("log", f"/#/s/{mirror}/log", ".log"), ("operation", f"/#/s/{flaky}/op/lamp", ".facts dd"),
        ("failed-operation", f"/#/s/{mirror}/op/report", ".failure"),
    ]


def go(page, server, place, there):
    page.goto("about:blank")
    page.goto(server.url(place))
    expect(page.locator(there).first).to_be_visible()


def check_light_and_dark(page, server):
    """Both schemes are there, every text can be read in both, and what is drawn changes with the scheme."""
    papers, faint = {}, {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for name, place, there in pages(server):
            go(page, server, place, there)
            papers[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
            faint |= {f"{name}, {scheme}: {text}": round(ratio, 2) for text, ratio in page.evaluate(CONTRASTS) if ratio < CONTRAST_MIN}
            if scheme == "dark":
                server.shot(page, f"dark-{name}")
    assert not faint, f"contrast below {CONTRAST_MIN}: {faint}"
    assert papers["light"] != papers["dark"], papers
    for name in ("graph", "timeline"):
        place, there = next((place, there) for one, place, there in pages(server) if one == name)
        go(page, server, place, there)
        drawn = "document.querySelector('main canvas').toDataURL()"
        dark = page.evaluate(drawn)
        page.emulate_media(color_scheme="light")
        page.wait_for_function("before => document.querySelector('main canvas').toDataURL() !== before", arg=dark)
        page.emulate_media(color_scheme="dark")
    page.emulate_media(color_scheme="light")
    print("light and dark: every text can be read in both, and pictures change with the scheme")


def check_narrow(page, server):
    """On a phone nothing is wider than the screen."""
    page.set_viewport_size({"width": PHONE, "height": 780})
    held = server.submit({"name": "narrow", "group": [{"id": f"deploy-the-second-region-{i}", "exclusive": "a-lock-with-a-long-name", "run": server.gate("narrow")} for i in range(3)]})
    server.wait("a lock is held", lambda: server.ask("/locks")["locks"])
    for name, place, there in [*pages(server), ("explain", f"/#/s/{held}/op/deploy-the-second-region-2", ".blocker")]:
        go(page, server, place, there)
        page.wait_for_timeout(200)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= PHONE, f"{name} is {wide} px wide"
        for tab in page.get_by_role("tab", selected=True).all():
            box = tab.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE, f"{name}: the tab that is open is not seen: {box}"
        server.shot(page, f"narrow-{name}")
    for opener, dialog in [("Token", "#token-dialog"), ("Cancel", "#confirm-dialog")]:
        page.get_by_role("button", name=opener).first.click()
        box = page.locator(dialog).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE, f"{dialog}: {box}"
        server.shot(page, f"narrow-{opener.lower()}")
        page.keyboard.press("Escape")
    server.open_gate("narrow")
    server.wait("it has ended", lambda: server.state(held) == "succeeded")
    page.set_viewport_size({"width": 1280, "height": 860})
    print("narrow screen: nothing is wider than it")


FOCUSED = """() => {
    const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
    return { name: one.getAttribute("aria-label") || one.textContent.trim() || one.placeholder || one.id, tag: one.tagName,
             isShown: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0, isSeen: box.width > 0 && box.height > 0 && one.checkVisibility() };
}"""


def tab_to(page, wanted, most=60):
    """Presses Tab until what is wanted has the focus, which is seen wherever it goes."""
    for _ in range(most):
        page.keyboard.press("Tab")
        one = page.evaluate(FOCUSED)
        if one["tag"] == "BODY":
            continue
        assert one["isSeen"] and one["isShown"], f"the focus is not seen on {one}"
        if wanted in one["name"]:
            return one
    raise AssertionError(f"Tab does not lead to {wanted}")


def check_keyboard(page, server):
    """From the list to an operation's log, through a dialog, and to a cancelled submission, without a mouse."""
    identifier = server.submit({"name": "by-keyboard", "group": [{"id": "one", "run": "echo written; sleep 600"}, {"id": "two", "after": "one", "run": "true"}]})
    server.wait("it runs", lambda: server.counts(identifier)["running"] == 1)
    page.goto("about:blank")
    page.goto(server.url())
    page.evaluate("sessionStorage.clear()")
    page.reload()
    expect(page.locator(f"[data-id='{identifier}']")).to_be_visible()
    page.keyboard.press("Tab")
    assert "Skip to the content" in page.evaluate(FOCUSED)["name"]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    tab_to(page, "by-keyboard")
    page.keyboard.press("Enter")
    expect(page.locator(".graph[data-ready]")).to_be_visible()
    # A key that comes before the graph does is no trouble.
    page.route("**/operations?*", lambda route: (page.locator(".graph canvas").press("ArrowRight"), route.continue_()))
    page.reload()
    expect(page.locator(".graph[data-ready]")).to_be_visible()
    page.unroute("**/operations?*")
    # Timeline: from attempt to attempt.
    tab_to(page, "Timeline")
    page.keyboard.press("Enter")
    expect(page.locator(".timeline canvas[data-axis]")).to_be_visible()
    tab_to(page, "The timeline.")
    plain = page.evaluate("document.querySelector('main canvas').toDataURL()")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#timeline-selection strong")).to_have_text("one")
    assert page.evaluate("document.querySelector('main canvas').toDataURL()") != plain, "it is seen which one it is"
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("one")
    page.go_back()
    expect(page.locator(".timeline canvas[data-axis]")).to_be_visible()
    # From tab to tab by the arrows; the focus stays there.
    tab_to(page, "Timeline")
    for name in ["Operations", "Failures", "Log", "Graph"]:
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("tab", selected=True)).to_have_text(name)
        expect(page.get_by_role("tab", selected=True)).to_be_focused()
    expect(page.locator(".graph[data-ready]")).to_be_visible()
    tab_to(page, "The graph.")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#graph-selection strong")).to_have_text("one")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("one")
    expect(page.locator(".log").last).to_contain_text("written")
    tab_to(page, identifier)
    page.keyboard.press("Enter")
    # A dialog has the focus, Escape closes it, and the harmless answer comes first.
    expect(page.locator("h1")).to_have_text("by-keyboard")
    tab_to(page, "Cancel")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Keep it as it is")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#confirm-dialog")).to_be_hidden()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    assert server.state(identifier) == "running"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Cancel it")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#token-input")).to_be_focused()
    page.keyboard.type(server.token)
    page.keyboard.press("Enter")
    expect(page.locator("#token-dialog")).to_be_hidden()
    tab_to(page, "Cancel")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".title .state")).to_have_text("cancelled")
    print("keyboard: from the list to a log and to a cancelled submission, with the focus seen all the way")
