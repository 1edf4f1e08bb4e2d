#!/usr/bin/env python3
"""Makes the manual pages of aop from its help: aop.1, and one for each command that is shown.

    aop --experimental-dump-help | man-pages.py DIRECTORY VERSION DATE

Exit codes come from docs/command-line.md. What it prints are the names of the files it has made.
"""

import json
import pathlib
import re
import sys

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "command-line.md"


def text(words):
    """Words as roff shows them."""
    words = words.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", words, flags=re.MULTILINE)


def quoted(words):
    """An argument of a macro."""
    return '"' + text(words).replace('"', "\\(dq") + '"'


def flags(argument):
    """How an option is written: `-o, --output`."""
    return [("-" if name["kind"] == "short" else "--") + name["name"] for name in argument["names"]]


def placeholder(argument):
    return "\\fI" + text(argument["valueName"]) + "\\fR"


def synopsis(command, name):
    words = ["\\fB" + text(name) + "\\fR"]
    shown = [argument for argument in command["arguments"] if argument["shouldDisplay"]]
    if any(argument["kind"] != "positional" for argument in shown):
        words.append("[\\fIoption\\fR ...]")
    for argument in shown:
        if argument["kind"] == "positional":
            word = placeholder(argument) + (" ..." if argument["isRepeating"] else "")
            words.append("[" + word + "]" if argument["isOptional"] else word)
    if visible(command):
        words.append("[\\fIcommand\\fR ...]" if command.get("defaultSubcommand") else "\\fIcommand\\fR ...")
    return " ".join(words)


def visible(command):
    return [sub for sub in command.get("subcommands", []) if sub["shouldDisplay"] and sub["commandName"] != "help"]


def discussion(command):
    """Paragraphs, and lines that begin with spaces as they are; examples get a section of their own."""
    lines, section = [], None
    for block in command.get("discussion", "").split("\n\n"):
        literal, words = [], []
        for line in block.split("\n"):
            if re.fullmatch(r"Examples?:", line):
                lines.append(".SH EXAMPLES")
                section = "examples"
            elif line.startswith("  "):
                literal.append(text(line[2:]))
            else:
                words.append(text(line.strip()))
        if words and any(words):
            lines += ([".PP"] if section is None else []) + words
        if literal:
            lines += ([] if lines[-1:] == [".SH EXAMPLES"] else [".PP"]) + [".RS 4", ".nf"] + literal + [".fi", ".RE"]
    return lines


def options(command):
    lines = []
    for argument in command["arguments"]:
        if not argument["shouldDisplay"]:
            continue
        if argument["kind"] == "positional":
            head = placeholder(argument)
        else:
            head = ", ".join("\\fB" + text(flag) + "\\fR" for flag in flags(argument))
            if argument["kind"] == "option":
                head += " " + placeholder(argument)
        words = argument.get("abstract", "")
        default = argument.get("defaultValue")
        if default and "(default:" not in words:
            words += f" (default: {default})"
        lines += [".TP", head, text(words.strip()) or "\\&"]
    return lines


def exit_codes():
    section = DOCUMENT.read_text().split("\n## Exit codes\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", section, flags=re.MULTILINE)
    if not rows:
        raise SystemExit(f"{DOCUMENT} has no table of exit codes")
    return [line for code, means in rows for line in (".TP", "\\fB" + code + "\\fR", text(means.replace("`", "")))]


def page(command, path, version, date):
    name = " ".join(path)
    title = "-".join(path)
    lines = [
        f'.TH {quoted(title.upper())} 1 "{date}" {quoted("aop " + version)} "User Commands"',
        ".SH NAME",
        f"{text(title)} \\- {text(command['abstract'].rstrip('.'))}",
        ".SH SYNOPSIS",
        synopsis(command, name),
        ".SH DESCRIPTION",
        text(command["abstract"]),
    ]
    told = discussion(command)
    # Examples stand behind the options.
    split = told.index(".SH EXAMPLES") if ".SH EXAMPLES" in told else len(told)
    lines += told[:split]
    if visible(command):
        lines.append(".SH COMMANDS")
        for sub in visible(command):
            page_name = "-".join(path + [sub["commandName"]])
            lines += [".TP", f"\\fB{text(page_name)}\\fR(1)", text(sub["abstract"])]
    lines += [".SH OPTIONS"] + options(command)
    lines += [".SH EXIT STATUS"]
    lines += exit_codes() if len(path) == 1 else ["See \\fBaop\\fR(1)."]
    lines += told[split:]
    others = ["-".join(path[:-1])] if len(path) > 1 else []
    others += ["-".join(path + [sub["commandName"]]) for sub in visible(command)]
    if others:
        lines += [".SH SEE ALSO"] + [f".BR {text(other)} (1){',' if other != others[-1] else ''}" for other in others]
    return "\n".join(lines) + "\n"


def write(command, path, folder, version, date):
    file = folder / ("-".join(path) + ".1")
    file.write_text(page(command, path, version, date))
    print(file)
    for sub in visible(command):
        write(sub, path + [sub["commandName"]], folder, version, date)


def main():
    if len(sys.argv) != 4:
        raise SystemExit("usage: aop --experimental-dump-help | man-pages.py DIRECTORY VERSION DATE")
    folder, version, date = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    folder.mkdir(parents=True, exist_ok=True)
    command = json.load(sys.stdin)["command"]
    write(command, [command["commandName"]], folder, version, date)


main()
