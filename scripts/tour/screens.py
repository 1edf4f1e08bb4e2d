"""The dashboard's screens as pictures, in the Chromium of its tests (Tests/Browser); none where that cannot be had."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Tests/Browser"))

# Names that differ from run to run are drawn as the document has them, in the page's text and on its canvases.
NAMES = """
    const names = () => Object.entries(window.tourNames || {});
    // Times of the day are those of the night in the document.
    const clock = seconds => [[3600, 24], [60, 60], [1, 60]]
        .map(([unit, count]) => String(Math.floor(seconds / unit + 24 * 3600 / unit) % count).padStart(2, "0")).join(":");
    const moved = text => text
        .replace(/\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z/g, time => new Date(Date.parse(time) + window.tourMilliseconds).toISOString())
        .replace(/\\b\\d\\d:\\d\\d:\\d\\d\\b/g, time => clock(time.split(":").reduce((all, one) => all * 60 + Number(one), 0) + window.tourSeconds));
    const named = text => moved(names().reduce((all, [real, usual]) => all.replaceAll(real, usual), text));
    for (const method of ["fillText", "strokeText", "measureText"]) {
        const original = CanvasRenderingContext2D.prototype[method];
        CanvasRenderingContext2D.prototype[method] = function (text, ...rest) { return original.call(this, named(String(text)), ...rest) };
    }
    // A time is moved once; what the page writes anew meanwhile is renamed before it is drawn.
    const written = new WeakMap();
    const rename = () => {
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let node; (node = walk.nextNode());) {
            if (written.get(node) === node.data) continue;
            const text = named(node.data);
            written.set(node, text);
            if (text !== node.data) node.data = text;
        }
    };
    window.tourRename = () => {
        rename();
        new MutationObserver(rename).observe(document.body, { subtree: true, childList: true, characterData: true });
    };
"""
WIDTH = 1180


class NoScreens:
    """Pictures stay as they are."""

    complaints = ()

    def open(self, place): return None

    def take(self, name, height=720): pass

    def drawn(self, svg, name): pass

    def close(self): pass


class Screens:
    def __init__(self, address, folder, neutral, environment):
        from chromium import Chromium

        self.address, self.folder, self.neutral = address, folder, neutral
        self.chromium = Chromium(WIDTH, 720, environment)
        self.page = self.chromium.page()
        self.page.add_init_script(NAMES)

    @property
    def complaints(self): return self.chromium.complaints

    def open(self, place):
        """A place of the dashboard, `/#/…`. Returns the page."""
        self.page.goto("about:blank")
        self.page.goto(f"http://{self.address}{place}")
        self.page.evaluate("""([names, seconds, milliseconds]) =>
            Object.assign(window, { tourNames: names, tourSeconds: seconds % 86400, tourMilliseconds: milliseconds })""",
                           [self.neutral.words | dict(self.neutral.texts), self.neutral.seconds, self.neutral.milliseconds])
        return self.page

    def take(self, name, height=720):
        self.page.set_viewport_size({"width": WIDTH, "height": height})
        # What is drawn on a canvas is drawn anew with the names.
        self.page.evaluate("window.dispatchEvent(new Event('resize'))")
        self.page.wait_for_timeout(400)
        self.page.evaluate("window.tourRename()")
        self.keep(self.page.screenshot(), name)

    def drawn(self, svg, name):
        """A picture that a command has drawn, as pixels."""
        page = self.chromium.page()
        page.goto(f"file://{svg}")
        page.wait_for_timeout(200)
        size = page.evaluate("(() => { const box = document.documentElement.viewBox.baseVal; return [box.width, box.height] })()")
        page.set_viewport_size({"width": int(size[0]), "height": int(size[1])})
        self.keep(page.screenshot(), name)
        page.close()

    def keep(self, data, name):
        from chromium import keep

        keep(data, f"{self.folder}/{name}")

    def close(self): self.chromium.close()
