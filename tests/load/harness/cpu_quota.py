"""A control group that limits processes to a share of the CPUs, so that one machine can stand in for several smaller ones."""

from pathlib import Path

from harness.processes import ServerFailed

PERIOD_US = 10_000   # short, so that a process that has used its share waits for milliseconds
ROOT = Path("/sys/fs/cgroup")


class CpuQuota:
    """A running process and its threads get `cores` of CPU time, on whichever CPU. Needs root on Linux, with version 1 or 2 of the groups.
    Leaving it as a context manager removes the group; the process must have ended, or goes back to the root group."""

    def __init__(self, name, cores, pid):
        quota = int(cores * PERIOD_US)
        unified = (ROOT / "cgroup.controllers").exists()
        self._parent = ROOT if unified else ROOT / "cpu"
        self._group = self._parent / name
        try:
            if unified:
                (ROOT / "cgroup.subtree_control").write_text("+cpu")
            self._group.mkdir(exist_ok=True)
            if unified:
                (self._group / "cpu.max").write_text(f"{quota} {PERIOD_US}")
            else:
                (self._group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
                (self._group / "cpu.cfs_quota_us").write_text(str(quota))
            (self._group / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            raise ServerFailed(f"process {pid} could not be limited to {cores:g} cores, which takes root and control groups: {error}") from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in (self._group / "cgroup.procs").read_text().split():
            (self._parent / "cgroup.procs").write_text(pid)
        self._group.rmdir()
