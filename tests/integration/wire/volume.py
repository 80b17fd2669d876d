"""Files as kubelet projects them from a ConfigMap or a Secret."""

import pathlib
import shutil


class Volume:
    """Its files are links to ..data, a link to a folder; all files change at once when that link is replaced, and the folder before is
    removed."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._versions = 0
        folder.mkdir()

    def project(self, **files: str | bytes) -> None:
        """Names have '_' for '.'."""
        self._versions += 1
        data = self._folder / "..data"
        old = data.resolve()
        new = self._folder / f"..version_{self._versions}"
        new.mkdir()
        for name, content in files.items():
            (new / name.replace("_", ".")).write_bytes(content.encode() if isinstance(content, str) else content)
        (self._folder / "..data_tmp").symlink_to(new.name)
        (self._folder / "..data_tmp").rename(data)
        for name in files:
            link = self._folder / name.replace("_", ".")
            if not link.is_symlink():
                link.symlink_to(f"..data/{link.name}")
        if old != data:
            shutil.rmtree(old)
