"""The tour as a document: words, commands with what they really printed, pictures."""

import textwrap

# Of transcripts, and of words.
WIDTH = 132
LINE = 140


class Book:
    def __init__(self, neutral):
        self.neutral, self.parts = neutral, []
        # The command lines that are shown.
        self.commands = []

    def say(self, text):
        """Words of the story, a paragraph each, as they are."""
        paragraphs = text.strip("\n").split("\n\n")
        self.parts.append(("words", "\n\n".join(one if one[0] in "#-!" else textwrap.fill(one, LINE) for one in paragraphs)))

    def transcript(self, command, output, code=0, head=None, tail=0):
        """A command and its output: of `head` and `tail` lines where there are more."""
        self.commands.append(command)
        lines = [line.rstrip() for line in output.rstrip("\n").split("\n")] if output.strip() else []
        if head is not None and len(lines) > head + tail + 1:
            lines = lines[:head] + [f"… {len(lines) - head - tail:,} lines …"] + (lines[-tail:] if tail else [])
        self.parts.append(("transcript", (command, lines, code)))

    def file(self, text, language="yaml"):
        self.parts.append(("file", (text.rstrip("\n"), language)))

    def picture(self, name, caption):
        self.parts.append(("words", f"![{caption}](images/{name})"))

    def write(self, path):
        everything = "\n".join("\n".join(lines) for kind, value in self.parts if kind == "transcript" for lines in [value[1]])
        self.neutral.know_tokens(everything)
        text, is_open = [], False
        for kind, value in self.parts:
            if kind == "transcript":
                # What follows without words between it stands in one box.
                if is_open:
                    text.pop()
                else:
                    text.append("```")
                command, lines, code = value
                text += [self.cut(f"$ {self.neutral.text(command)}")] + [self.cut(self.neutral.text(line)) for line in lines]
                if code:
                    text.append(f"(exit code {code})")
                text += ["```"]
                is_open = True
                continue
            if is_open:
                text.append("")
            is_open = False
            if kind == "file":
                body, language = value
                text += [f"```{language}", self.neutral.text(body), "```", ""]
            else:
                text += [value, ""]
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(text).rstrip("\n") + "\n")

    @staticmethod
    def cut(line):
        return line if len(line) <= WIDTH or line.startswith("$") else line[:WIDTH - 1].rstrip() + "…"
