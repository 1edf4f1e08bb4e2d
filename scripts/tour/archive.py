"""The archive of the tour: 12 boxes of 412 scanned pages, some of which are missing, and the graph that catalogues them.

The graph is data, so a program of a few lines may write it: 5,000 operations here.
"""

import os

BOXES = [f"{box:02d}" for box in range(1, 13)]
PAGES = [f"{page:03d}" for page in range(412)]
# These were never copied: the graph counts words in files that are not there.
MISSING = [("03", "057"), ("07", "004"), ("07", "005"), ("10", "399")]
OPERATIONS = 5000

HEAD = """\
name: archive
vars:
  scans: {scans}
group:
  - id: lamp                       # the scanner's lamp is cold at first: exit code 75 says "later"
    run: test -e "$scans/warm" || {{ touch "$scans/warm"; echo "the lamp is cold" >&2; exit 75; }}
    retry: {{attempts: 3, backoff: {{kind: constant, initial: 1s, jitter: 0}}, on: [75]}}

  - id: boxes                      # what there is, as a list …
    run: ls "$scans" | sed -n 's/^box-//p'
    output: lines
  - id: label                      # … and one label for each, as soon as the list is known
    forEach: boxes
    as: box
    exec: [echo, "box ${{box}}, 412 pages"]
"""

BOX = """
  - id: box-{box}
    after: lamp
    group:
      - {{id: cover, run: sleep 4, requires: {{cameras: 1}}}}
{pages}
      - {{id: seal, after: cover, op: noop}}
  - id: index-{box}
    receives: box-{box}               # the values of its members: one JSON array
    exclusive: catalogue           # one at a time, in the whole cluster
    run: tr -c '0-9' '\\n' | awk '{{n += $1}} END {{print n}}' | tee -a "$scans/catalogue"
    output: json
"""

TAIL = """
  - id: total                      # what all the others deliver
    receives: [{indexes}]
    run: tr -c '0-9' '\\n' | awk '{{n += $1}} END {{print n, "words"}}'
  - id: report
    receives: total
    op: writeFile
    with: {{path: "${{scans}}/report.txt"}}
  - id: minutes                    # also when something failed: then it reads why
    receives: total
    whenReceivedFails: run
    run: if grep -q '"code"'; then echo "not complete"; else echo "complete"; fi
  - id: publish
    after: total
    conditions:
      - noFailedDependencies: true
      - {{fileExists: "${{scans}}/approved", wait: true}}     # somebody has to say yes
    ordered:
      - {{id: seal, run: sort "$scans/catalogue" | sha256sum | cut -c 1-12}}
      - {{id: upload, run: sleep 0.5}}
      - {{id: announce, run: echo "the catalogue is out"}}
"""

MAINTENANCE = """\
name: maintenance
group:
  - id: compact
    exclusive: catalogue
    run: echo "compacting the catalogue …"; sleep 3600
"""


def words(box, page):
    """How many words a page has: any number will do that a program can say again."""
    return 20 + (int(box) * 7919 + int(page) * 104729) % 280


def write_page(scans, box, page):
    with open(f"{scans}/box-{box}/{page}.txt", "w", encoding="utf-8") as file:
        file.write("word " * words(box, page) + "\n")


def graph(scans):
    def pages(box):
        return "\n".join(f'      - {{id: "{page}", run: wc -w < "$scans/box-{box}/{page}.txt", output: json}}' for page in PAGES)

    indexes = ", ".join(f"index-{box}" for box in BOXES)
    return HEAD.format(scans=scans) + "".join(BOX.format(box=box, pages=pages(box)) for box in BOXES) + TAIL.format(indexes=indexes)


def make(directory):
    """The scans, but for those that are missing, and the graph files, in a directory."""
    scans = f"{directory}/scans"
    for box in BOXES:
        os.makedirs(f"{scans}/box-{box}")
        for page in PAGES:
            if (box, page) not in MISSING:
                write_page(scans, box, page)
    for name, text in [("archive", graph(scans)), ("maintenance", MAINTENANCE)]:
        with open(f"{directory}/{name}.yaml", "w", encoding="utf-8") as file:
            file.write(text)
