"""Lays out what the site is made of: the documents where they lie in the repository, so that their links hold, and what these lead to.

Usage: stage.py DIRECTORY [--reference]
"""

import os
import re
import shutil
import subprocess
import sys

TOP, HAS_REFERENCE = sys.argv[1], "--reference" in sys.argv[2:]
DOCUMENTS = f"{TOP}/documents"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^[ \t]*```")
ITEM = re.compile(r"^ *(?:[-*]|\d+\.) ")
ARTICLES = "Sources/AOperation/AOperation.docc"

# What a reader reads first, by theme; the rest is found by its theme, or by search.
PAGES = [
    ("Home", "README.md"),
    ("A tour", "docs/tour.md"),
    ("First steps", "docs/first-steps.md"),
    ("Concepts", "docs/concepts.md"),
    ("Graph files", ["docs/graph-files.md", "examples/README.md", "docs/command-line.md", "docs/dashboard.md"]),
    ("Swift", ["docs/swift.md", "docs/cluster-queue.md", "docs/testing.md"]),
    ("Operating", ["docs/operating.md", "docs/deploying.md", "docs/configuration.md", "docs/security.md", "docs/monitoring.md", "docs/api.md",
                   "docs/limits.md"]),
    ("Guarantees", ["docs/guarantees.md", "SECURITY.md", "docs/semantics-coverage.md", "docs/benchmarks.md"]),
    ("Comparison", "docs/comparison.md"),
    ("Changelog", "CHANGELOG.md"),
]

CONFIGURATION = """\
site_name: AOperation Cluster
site_url: ""
docs_dir: documents
use_directory_urls: false
theme:
  name: readthedocs
  highlightjs: false
  navigation_depth: 3
  collapse_navigation: true
extra_css: [code.css]
markdown_extensions:
  - toc: {permalink: true}
  - pymdownx.superfences
  - pymdownx.highlight: {use_pygments: true, guess_lang: false}
validation:
  nav: {omitted_files: warn, not_found: warn, absolute_links: warn}
  links: {not_found: warn, anchors: warn, absolute_links: warn, unrecognized_links: warn}
nav:
"""
# What the theme would do otherwise: frames in frames, tables that have to be moved, narrow pages.
STYLE = """
.rst-content .highlight pre code { border: none; padding: 0; background: none; overflow: visible }
.rst-content pre { line-height: 1.45 }
.rst-content img { max-width: 100% }
.wy-nav-content { max-width: 60rem }
.wy-table-responsive table td, .wy-table-responsive table th { white-space: normal }
"""


def tracked(pattern):
    return subprocess.run(["git", "ls-files", pattern], capture_output=True, text=True, check=True).stdout.split()


def is_page(path):
    return path.endswith(".md") and os.path.exists(f"{DOCUMENTS}/{path}")


def outside_code(text, change):
    """Changes what does not stand between fences."""
    lines, is_code = [], False
    for line in text.split("\n"):
        if FENCE.match(line):
            is_code = not is_code
        lines.append(line if is_code or FENCE.match(line) else change(line))
    return "\n".join(lines)


def spaced(text):
    """As Python's Markdown wants lists: a line before them, and what belongs to an item indented by four."""
    lines, fence, before = [], None, ""
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        if fence is not None:
            # All of a block moves as its fence does.
            lines.append(" " * fence + line if line.strip() else line)
            if FENCE.match(line):
                fence = None
            before = line
            continue
        if FENCE.match(before) and line.strip():
            lines.append("")
        if FENCE.match(line):
            fence = indent
            if indent == 0 and before.strip():
                lines.append("")
        elif ITEM.match(line) and indent == 0 and before.strip() and not before.startswith(" ") and not ITEM.match(before):
            lines.append("")
        lines.append(" " * indent + line)
        before = line
    return "\n".join(lines)


def article(text):
    """DocC's own links as those of every document: to other articles, and symbols as code."""
    text = re.sub(r"<doc:(\w+)>", r"[\1](\1.md)", text)
    text = re.sub(r"^# ``(\w+)``", r"# \1", text)
    return re.sub(r"``([^`]+)``", lambda match: f"`{match[1].split('/')[-1] if '/' in match[1] else match[1]}`", text)


def links(path):
    """What a link becomes that the site cannot follow as it is: folders, and files that are no documents, which come along."""
    folder = os.path.dirname(path)

    def one(match):
        picture, text, target, anchor = match[1], match[2], match[3], match[4] or ""
        if ":" in target:
            return match[0]
        place = os.path.normpath(os.path.join(folder, target))
        if os.path.isdir(place):
            pages = [page for page in (f"{place}/README.md", f"{place}/index.md") if page in ALL]
            return f"[{text}]({os.path.relpath(pages[0], folder)}{anchor})" if pages else text
        if place not in ALL:
            os.makedirs(os.path.dirname(f"{DOCUMENTS}/{place}") or ".", exist_ok=True)
            shutil.copyfile(place, f"{DOCUMENTS}/{place}")
        return f"{picture}[{text}]({target}{anchor})"

    return lambda line: LINK.sub(one, line)


def title(path):
    with open(path, encoding="utf-8") as file:
        return article(file.readline()).lstrip("# ").strip().replace('"', "'")


def entry(path, depth, name=None):
    return f'{"  " * depth}- "{name or title(path)}": "{path}"\n'


ALL = set(tracked("*.md")) | {"docs/decisions/README.md"}


def main():
    os.makedirs(DOCUMENTS)
    decisions = sorted(path for path in ALL if path.startswith("docs/decisions/0"))
    first = f"{ARTICLES}/AOperation.md"
    articles = [first] + sorted(path for path in ALL if path.startswith(ARTICLES) and path != first)
    for path in sorted(ALL):
        os.makedirs(os.path.dirname(f"{DOCUMENTS}/{path}") or ".", exist_ok=True)
        if path == "docs/decisions/README.md" and not os.path.exists(path):
            text = "# Decisions\n\nWhy it is built as it is.\n\n" + "".join(f"- [{title(one)}]({os.path.basename(one)})\n" for one in decisions)
        else:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        if path.startswith(ARTICLES):
            text = outside_code(text, article)
        if path == first and HAS_REFERENCE:
            # mkdocs does not know of it; the check of the whole site does.
            text += '\nThe <a href="../../../reference/documentation/aoperation/index.html">reference</a> of every symbol, by DocC, needs a web server: '
            text += "it loads its pages piece by piece.\n"
        with open(f"{DOCUMENTS}/{path}", "w", encoding="utf-8") as file:
            file.write(spaced(outside_code(text, links(path))))
    with open(f"{DOCUMENTS}/code.css", "w", encoding="utf-8") as file:
        from pygments.formatters import HtmlFormatter

        file.write(HtmlFormatter(style="default").get_style_defs(".highlight"))
        file.write(STYLE)
    nav = ""
    for name, pages in PAGES:
        if isinstance(pages, str):
            nav += entry(pages, 1, name)
        else:
            nav += f'  - "{name}":\n' + "".join(entry(page, 2) for page in pages)
            if name == "Swift":
                nav += '    - "The library\'s articles":\n' + "".join(entry(page, 3) for page in articles)
    nav += '  - "Decisions":\n' + entry("docs/decisions/README.md", 2, "All of them") + "".join(entry(page, 2) for page in decisions)
    named = set(re.findall(r': "([^"]+\.md)"\n', nav))
    nav += "".join(entry(page, 1) for page in sorted(ALL - named))
    with open(f"{TOP}/mkdocs.yml", "w", encoding="utf-8") as file:
        file.write(CONFIGURATION + nav)


main()
