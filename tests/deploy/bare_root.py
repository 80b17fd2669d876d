"""A bare Debian of its own, made by mmdebstrap, in which packages are installed as a new user would. Needs root."""

import contextlib
import pathlib
import subprocess
from collections.abc import Iterator

SUITE = "bookworm"
# A folder of the root, in which scripts start, for files that belong to no package.
SCRATCH = "srv"


class BareRoot:
    """Runs commands in the root; each in a mount and process namespace, so that nothing of it stays mounted or running."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path

    def run(self, script: str, *, network: bool = True, timeout: float = 600) -> subprocess.CompletedProcess:
        """Runs a shell script. Without network there is only an empty loopback interface."""
        enter = 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && '
        if not network:
            enter += "ip link set lo up && "
        enter += ('exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive '
                  'chroot "$1" bash -c "cd $3 || exit; $2"')
        return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", *([] if network else ["--net"]),
                               "sh", "-c", enter, "sh", self.path, script, f"/{SCRATCH}"],
                              capture_output=True, text=True, check=False, timeout=timeout, stdin=subprocess.DEVNULL)

    def ok(self, script: str, **options) -> str:
        """As run, for what must succeed; returns its output."""
        done = self.run(script, **options)
        assert done.returncode == 0, f"{script}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    @property
    def scratch(self) -> pathlib.Path:
        return self.path / SCRATCH

    @contextlib.contextmanager
    def small_disk(self, folder: str, kib: int) -> Iterator[None]:
        """A file system of a size at a folder."""
        place = self.path / folder.lstrip("/")
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k,mode=755", "tmpfs", place], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", place], check=True)

    def resize(self, folder: str, kib: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={kib}k", self.path / folder.lstrip("/")], check=True)


def make(path: pathlib.Path) -> BareRoot:
    """The least that apt needs."""
    subprocess.run(["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--include=usr-is-merged",
                    "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr", SUITE, path], check=True)
    return BareRoot(path)
