"""Checks a site: every link inside of it leads to something that is there, and nothing is fetched from elsewhere.

Usage: check.py DIRECTORY
"""

import os
import re
import sys
import urllib.parse
from html.parser import HTMLParser

SITE = sys.argv[1]


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.fetched, self.anchors = [], [], {"", "top"}
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        # A canonical address is named, and not fetched.
        if tag in ("script", "img", "iframe", "source") and values.get("src"):
            self.fetched.append(values["src"])
        if tag == "link" and values.get("href") and values.get("rel") in ("stylesheet", "icon", "shortcut icon", "preload", "mask-icon"):
            self.fetched.append(values["href"])


def main():
    pages, problems, count = {}, [], 0
    for folder, folders, files in os.walk(SITE):
        # DocC checks its own.
        if folder == SITE and "reference" in folders:
            folders.remove("reference")
        for file in files:
            path = os.path.join(folder, file)
            if file.endswith(".html"):
                pages[path] = Page(path)
            elif file.endswith(".css"):
                with open(path, encoding="utf-8") as text:
                    problems += [f"{path}: fetches {url}" for url in re.findall(r"url\([\"']?(https?:[^)\"']+|//[^)\"']+)", text.read())]
    for path, page in pages.items():
        name = os.path.relpath(path, SITE)
        problems += [f"{name}: fetches {one}" for one in page.fetched if re.match(r"(https?:)?//", one)]
        for one in page.links + page.fetched:
            url = urllib.parse.urlsplit(one)
            if url.scheme or url.netloc:
                continue
            count += 1
            place = urllib.parse.unquote(url.path)
            # The page for what is not there is shown anywhere, and names places from the top.
            target = os.path.normpath(SITE + place if place.startswith("/") else os.path.join(os.path.dirname(path), place)) if place else path
            if os.path.isdir(target):
                target = os.path.join(target, "index.html")
            if not os.path.exists(target):
                problems.append(f"{name}: {one} is not there")
            elif target in pages and urllib.parse.unquote(url.fragment) not in pages[target].anchors:
                problems.append(f"{name}: {one}: there is no such place on that page")
    if problems:
        sys.exit("\n".join(sorted(problems)))
    print(f"{len(pages)} pages, {count} links inside of the site: all lead somewhere, and nothing is fetched from elsewhere")


main()
