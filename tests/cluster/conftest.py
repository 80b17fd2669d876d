import importlib.util
import itertools
import pathlib
import sys

import pytest

for folder in ("../deploy", "..", "."):   # what they share with the other tests, and their own modules
    sys.path.insert(0, str((pathlib.Path(__file__).parent / folder).resolve()))

if importlib.util.find_spec("kubernetes") is None:
    collect_ignore_glob = ["test_*.py"]   # only the environment of scripts/check-kubernetes.sh has what these tests need
else:
    from cluster import Cluster
    from control_plane import control_plane
    from release import Release


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A control plane with three nodes in two zones and two more with GPUs, which lasts for all tests."""
    with control_plane(tmp_path_factory.mktemp("control-plane")) as kubeconfig:
        cluster = Cluster(kubeconfig, tmp_path_factory.mktemp("helm"))
        cluster.define()
        cluster.add_nodes()
        yield cluster


_numbers = itertools.count(1)


@pytest.fixture
def release(cluster):
    """The chart's release `speech`, not installed yet, in a namespace of its own that admits restricted pods only."""
    release = Release(cluster, f"test-{next(_numbers)}")
    yield release
    release.delete_namespace()
