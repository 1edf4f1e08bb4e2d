"""Makes what a run has printed the same from run to run where that can be: paths, ports, ids, process ids, tokens and dates.

How long things took stays as it was measured.
"""

import base64
import datetime
import hashlib
import re

# The night on which the tour takes place.
BEGIN = datetime.datetime(2026, 1, 12, 22, 0, 0, tzinfo=datetime.timezone.utc)
IDS = ["4m7q0xk2vd", "n8c3tz51wp", "b61yhr9s0e", "x2fj7d4gka", "t05wq8mv3c", "h9rk2e6zn1", "q3s8b0yd7f", "e7p4xg1j5m"]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z")
# Seconds since 1970, as epochs are.
SECONDS = re.compile(r"\b1[78]\d{8}\b")
MILLISECONDS = re.compile(r"\b1[78]\d{11}\b")
TOKEN = re.compile(r"\b7\d{18}\b")
PUBLIC_KEY = re.compile(r"(?<=[ :'])[0-9a-zA-Z.:+=^!/*?&<>()\[\]{}@%$#-]{40}(?=['\s]|$)")
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
Z85 = str.maketrans(DIGITS + "!#$%&()*+-;<=>?@^_`{|}~", DIGITS + ".-:+=^!/*?&<>()[]{}@%$#")


class Neutral:
    def __init__(self, places, ports, since):
        # The longest first: one lies in another.
        self.texts = sorted(places.items(), key=lambda pair: -len(pair[0])) + [(f":{real}", f":{usual}") for real, usual in ports.items()]
        self.since = since
        self.ids, self.pids, self.tokens, self.keys = {}, {}, {}, {}

    def know_id(self, identifier):
        self.ids.setdefault(identifier, IDS[len(self.ids)])

    def know_pid(self, pid):
        if str(pid) not in self.pids:
            self.pids[str(pid)] = str(4101 + len(self.pids)).ljust(len(str(pid)), "0")

    def know_tokens(self, text):
        """They rise for ever, and so do those that stand for them."""
        self.tokens.update((token, "") for token in TOKEN.findall(text))
        for index, token in enumerate(sorted(self.tokens)):
            self.tokens[token] = str(7301444403200000001 + index)

    @property
    def milliseconds(self):
        """What is added to a time."""
        return round((BEGIN - self.since).total_seconds() * 1000)

    @property
    def seconds(self):
        """What is added to the time of the day, as this machine's zone has it."""
        local = self.since.astimezone()
        return round((BEGIN.replace(tzinfo=None) - local.replace(tzinfo=None)).total_seconds())

    @property
    def words(self):
        return {**self.ids, **self.pids, **self.tokens}

    def text(self, text):
        for real, usual in self.texts:
            text = text.replace(real, usual)
        for real, usual in self.words.items():
            text = re.sub(rf"\b{real}\b", usual, text)
        text = TIME.sub(lambda match: self.time(match[0]), text)
        text = SECONDS.sub(lambda match: str(int(match[0]) + self.milliseconds // 1000), text)
        text = MILLISECONDS.sub(lambda match: str(int(match[0]) + self.milliseconds), text)
        text = PUBLIC_KEY.sub(lambda match: self.key(match[0]), text)
        text = re.sub(r"aop-run-\w{6}", "aop-run-Kc4Lw9", text)
        text = re.sub(r"replaced-\d{8}T\d{6}Z", "replaced-20260112T220200Z", text)
        text = re.sub(r"[\d.]+ [GT]iB are free", "64.9 GiB are free", text)
        text = re.sub(r"\d+ open files", "20000 open files", text)
        return re.sub(r"\d+ processes for", "96000 processes for", text)

    def key(self, text):
        """Another one for each public key, as long as it."""
        if text not in self.keys:
            digest = hashlib.sha256(str(len(self.keys)).encode()).digest()
            self.keys[text] = base64.b85encode(digest).decode().translate(Z85)
        return self.keys[text]

    def time(self, text):
        has_fraction = "." in text
        at = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ" if has_fraction else "%Y-%m-%dT%H:%M:%SZ")
        moved = BEGIN + (at.replace(tzinfo=datetime.timezone.utc) - self.since)
        return moved.strftime("%Y-%m-%dT%H:%M:%S") + (f".{moved.microsecond // 1000:03d}" if has_fraction else "") + "Z"
