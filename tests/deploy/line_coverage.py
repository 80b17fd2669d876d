"""Which lines of a folder of Python sources have run. Only this thread is watched."""

import pathlib
import sys
import types


class LineCoverage:
    def __init__(self, folder: pathlib.Path):
        self._files = {str(path): path for path in folder.rglob("*.py")}
        self._run: set[tuple[str, int]] = set()
        self._earlier = None

    def __enter__(self):
        self._earlier = sys.gettrace()
        sys.settrace(self._trace)

    def __exit__(self, *_):
        sys.settrace(self._earlier)

    def missing(self) -> list[str]:
        """FILE:LINE of each line that has code and was not run."""
        return [f"{path.name}:{line}" for file, path in sorted(self._files.items())
                for line in sorted(lines_with_code(path)) if (file, line) not in self._run]

    def _trace(self, frame: types.FrameType, event: str, _):
        file = frame.f_code.co_filename
        if file not in self._files:
            return None
        if event == "line":
            self._run.add((file, frame.f_lineno))
        return self._trace


def lines_with_code(path: pathlib.Path) -> set[int]:
    lines, codes = set(), [compile(path.read_text(), str(path), "exec")]
    while codes:
        code = codes.pop()
        # Line 0 is the start of a module, and the first line of a function is that of its `def`, which the code around it runs.
        lines |= {line for _, _, line in code.co_lines() if line}
        if code.co_name != "<module>":
            lines.discard(code.co_firstlineno)
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return lines
