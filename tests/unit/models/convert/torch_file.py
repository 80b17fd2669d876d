"""Files as torch.save writes them, made without PyTorch."""

import collections
import io
import pathlib
import pickle
import sys
import types
import zipfile

import numpy as np


class Stored:
    """A tensor as torch.save writes it: a rebuild function over a storage that lies beside the pickle."""

    def __init__(self, array: np.ndarray):
        self.array = array


def save(path: pathlib.Path, value, stride=None, old: bool = False) -> None:
    """torch.save's format, written without it; `old` is that of PyTorch before 1.6."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    storage_type = type("FloatStorage", (), {"__module__": "torch"})

    def _rebuild_tensor_v2():
        raise AssertionError

    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    torch.FloatStorage, utils._rebuild_tensor_v2, torch._utils = storage_type, _rebuild_tensor_v2, utils
    storages = {}

    class Storage:
        def __init__(self, key):
            self.key = key

    class Pickler(pickle.Pickler):
        def persistent_id(self, given):
            if isinstance(given, Storage):
                return ("storage", storage_type, given.key, "cpu", storages[given.key].size) + ((None,) if old else ())
            return None

        def reducer_override(self, given):
            if not isinstance(given, Stored):
                return NotImplemented
            key = str(len(storages))
            storages[key] = given.array
            steps = stride or tuple(s // 4 for s in given.array.strides)
            return utils._rebuild_tensor_v2, (Storage(key), 0, given.array.shape, steps, False, collections.OrderedDict())

    buffer = io.BytesIO()
    sys.modules["torch"], sys.modules["torch._utils"] = torch, utils
    try:
        Pickler(buffer, protocol=2).dump(value)
    finally:
        del sys.modules["torch"], sys.modules["torch._utils"]
    if old:
        head = (0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}})
        path.write_bytes(b"".join(pickle.dumps(part, 2) for part in head) + buffer.getvalue() + pickle.dumps(sorted(storages), 2) +
                         b"".join(array.size.to_bytes(8, "little") + array.tobytes() for _, array in sorted(storages.items())))
        return
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", buffer.getvalue())
        archive.writestr("archive/byteorder", "little")
        for key, array in storages.items():
            archive.writestr(f"archive/data/{key}", array.tobytes())


class Evil:
    def __reduce__(self):
        return print, ("run",)
