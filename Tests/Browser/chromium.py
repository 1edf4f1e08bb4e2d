"""Chromium as the tests of the dashboard and the tour drive it. What a page complains of fails both."""

import io
import os

from playwright.sync_api import expect, sync_playwright

COLOURS = 256
MARGIN = 24


class Chromium:
    def __init__(self, width=1280, height=860, environment=None):
        """`CHROMIUM` names the program. With DASHBOARD_FILES=Sources/Dashboard/Files scripts and styles are those of that folder, to try a
        change without building the program."""
        expect.set_options(timeout=20_000)
        self.playwright = sync_playwright().start()
        self.browser = self.playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"], env=environment)
        # Times of the day are the same wherever it runs.
        self.context = self.browser.new_context(viewport={"width": width, "height": height}, timezone_id="UTC", locale="en-GB")
        self.complaints = []

    def page(self):
        page = self.context.new_page()
        if files := os.environ.get("DASHBOARD_FILES"):
            page.route(lambda url: url.endswith((".js", ".css")), lambda route: route.fulfill(
                path=os.path.join(files, route.request.url.rsplit("/", 1)[1]),
                content_type="text/javascript" if route.request.url.endswith(".js") else "text/css"))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("console", lambda message: self.complaints.append(message.text) if "Content Security Policy" in message.text else None)
        return page

    def close(self):
        self.browser.close()
        self.playwright.stop()


def keep(data, path):
    """A screenshot as a picture for a document: of few colours, which is small, and without what is empty below."""
    from PIL import Image, ImageChops

    picture = Image.open(io.BytesIO(data)).convert("RGB")
    paper = Image.new("RGB", picture.size, picture.getpixel((0, picture.height - 1)))
    drawn = ImageChops.difference(picture, paper).getbbox()
    if drawn:
        picture = picture.crop((0, 0, picture.width, min(picture.height, drawn[3] + MARGIN)))
    picture = picture.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    picture.save(path, optimize=True)
