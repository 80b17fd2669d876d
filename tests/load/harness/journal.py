"""Keeps each trial's result on disk at once, so that an interrupted measurement can go on where it stopped."""

import json


class Journal:
    """Lines of {"key", "value"} after a header with the settings. Entries of other settings are not taken up."""

    def __init__(self, path, settings, resume):
        self._path = path
        self._entries = {}
        header = json.dumps({"settings": settings}, sort_keys=True)
        if resume and path.exists():
            lines = path.read_text().splitlines()
            if lines and lines[0] == header:
                self._entries = dict(self._parse(lines[1:]))
        with open(path, "w") as file:
            file.write(header + "\n")
            for key, value in self._entries.items():
                file.write(json.dumps({"key": key, "value": value}) + "\n")

    @staticmethod
    def _parse(lines):
        for line in lines:
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                return  # cut off by an interruption
            yield entry["key"], entry["value"]

    def get(self, key):
        return self._entries.get(key)

    def put(self, key, value):
        self._entries[key] = value
        with open(self._path, "a") as file:
            file.write(json.dumps({"key": key, "value": value}) + "\n")
