"""The dashboard's screens as pictures, in a real Chromium; none where that cannot be had."""

import io
import os

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
    window.tourRename = () => {
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let node; (node = walk.nextNode());) { const text = named(node.data); if (text !== node.data) node.data = text; }
    };
"""
COLOURS = 256
WIDTH = 1180


class NoScreens:
    """Pictures stay as they are."""

    def open(self, place): return None

    def take(self, name, height=720): pass

    def drawn(self, svg, name): pass

    def close(self): pass


class Screens:
    def __init__(self, address, folder, neutral, environment):
        from playwright.sync_api import sync_playwright

        self.address, self.folder, self.neutral = address, folder, neutral
        self.playwright = sync_playwright().start()
        self.browser = self.playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"], env=environment)
        self.page = self.browser.new_page(viewport={"width": WIDTH, "height": 720})
        self.page.add_init_script(NAMES)

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
        page = self.browser.new_page(viewport={"width": WIDTH, "height": 720})
        page.goto(f"file://{svg}")
        page.wait_for_timeout(200)
        size = page.evaluate("(() => { const box = document.documentElement.viewBox.baseVal; return [box.width, box.height] })()")
        page.set_viewport_size({"width": int(size[0]), "height": int(size[1])})
        self.keep(page.screenshot(), name)
        page.close()

    def keep(self, data, name):
        from PIL import Image

        picture = Image.open(io.BytesIO(data)).convert("RGB").quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        picture.save(f"{self.folder}/{name}", optimize=True)

    def close(self):
        self.browser.close()
        self.playwright.stop()
