"""Whether the tour has everything: each command that `aop --help` knows, and each screen of the dashboard."""

import json
import re
import subprocess
import sys


def commands(aop):
    """The words of each command that does something, and of each command, the words that mean it by default."""
    found, defaults = [], {}

    def walk(command, words):
        below = [one for one in command.get("subcommands", []) if one["commandName"] != "help" and one.get("shouldDisplay", True)]
        if not below:
            found.append(words)
        if "defaultSubcommand" in command:
            defaults[words] = words + (command["defaultSubcommand"],)
        for one in below:
            walk(one, words + (one["commandName"],))

    walk(json.loads(aop("--experimental-dump-help"))["command"], ())
    return found, defaults


def missing_commands(aop, shown):
    """Commands that none of these command lines has."""
    found, defaults = commands(aop)
    places = {words[:length] for words in found for length in range(len(words) + 1)}
    used = set()
    for line in shown:
        for call in re.finditer(r"\baop((?: [a-z][a-z-]*)+)", line):
            words = ()
            for word in call[1].split():
                if words + (word,) not in places:
                    break
                words += (word,)
            used.add(defaults.get(words, words))
    return sorted(" ".join(words) for words in set(found) - used)


def missing_screens(page, places):
    """Parts of the dashboard that a page of a submission links to, and that were not looked at."""
    links = page.locator("nav [data-section], [role=tab]").evaluate_all("all => all.map(one => one.getAttribute('href'))")

    def part(place):
        """Whichever submission it is of."""
        return re.sub("#/s/[^/]+/", "#/s/…/", place.removeprefix("/") or "#/")

    return sorted({part(link) for link in links} - {part(place) for place in places})


if __name__ == "__main__":
    # Of a document that is there, without a run: whole.py AOP DOCUMENT
    with open(sys.argv[2], encoding="utf-8") as document:
        lines = [line for line in document if line.startswith(("$", "#"))]
    missing = missing_commands(lambda flag: subprocess.run([sys.argv[1], flag], capture_output=True, text=True, check=True).stdout, lines)
    if missing:
        sys.exit(f"these commands are not in {sys.argv[2]}: {', '.join(missing)}")
