"""Takes files out of zip, tar, gzip and zstd files of strangers: members stay inside the folder, and the sizes are bounded."""

import bz2
import gzip
import lzma
import pathlib
import stat
import tarfile
import zipfile
import zlib
from typing import BinaryIO

from .package import ConvertError, check_tensors
from .zstd_file import ZstdError, ZstdFile

MOST_MEMBERS = 10_000
# Weights hardly shrink, vocabularies and shortlists by some ten times.
MOST_TIMES, ALWAYS_ALLOWED = 50, 64 << 20
MOST_TIMES_WEIGHTS = 4
_MOST_HEADERS = 32 << 20   # bytes, of all members of a tar file
_PIECE = 1 << 20
_ENCRYPTED = 1   # of the flags of a zip file's member
_COMPRESSIONS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}


def is_archive(path: pathlib.Path) -> bool:
    return path.name.lower().endswith((".zip", ".argosmodel", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz"))


def check_weights(path: pathlib.Path) -> None:
    """Refuses a zip file of weights, .npz or torch.save's, whose members would not fit in memory or are too many. Raises BadZipFile and OSError."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
        check_tensors(path, len(archive.infolist()))
    if size > (allowed := ALWAYS_ALLOWED + MOST_TIMES_WEIGHTS * path.stat().st_size):
        raise ConvertError(f"{path}: its members are {size} bytes, {allowed} are allowed of weights in a file of this size")


def unpack(path: pathlib.Path, folder: pathlib.Path) -> None:
    try:
        folder.mkdir()   # an archive may be empty
        if zipfile.is_zipfile(path):
            _unpack_zip(path, folder)
        else:
            _unpack_tar(path, folder)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ConvertError(f"{path}: is no zip or tar file, or it is damaged: {' '.join(str(error).split())}") from error
    except OSError as error:
        raise _cannot(path, error) from error


def decompress(path: pathlib.Path, plain: pathlib.Path) -> None:
    """Of a file whose name ends with .gz or .zst."""
    kind, opened = ("zstd", ZstdFile) if path.suffix == ".zst" else ("gzip", gzip.open)
    try:
        with opened(path) as source, open(plain, "wb") as target:
            _copy(source, target, _allowed(path), path)
    except (gzip.BadGzipFile, zlib.error, ZstdError, EOFError) as error:
        raise ConvertError(f"{path}: is no {kind} file, or it is damaged: {error}") from error
    except OSError as error:
        raise _cannot(path, error) from error


def _cannot(path: pathlib.Path, error: OSError) -> ConvertError:
    return ConvertError(f"cannot unpack {path}: {error.strerror or error}")


def _allowed(path: pathlib.Path) -> int:
    return ALWAYS_ALLOWED + MOST_TIMES * path.stat().st_size


def _is_litter(name: str) -> bool:
    """What macOS adds to archives, which is of no model and would hide that one folder is all that is in it."""
    parts = pathlib.PurePosixPath(name).parts
    return "__MACOSX" in parts or bool(parts) and (parts[-1] == ".DS_Store" or parts[-1].startswith("._"))


def _place(archive: pathlib.Path, name: str, folder: pathlib.Path) -> pathlib.Path:
    parts = pathlib.PurePosixPath(name.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in name or ":" in parts[0]:
        raise ConvertError(f"{archive}: the member '{name}' would lie outside the folder; nothing was taken out of it")
    return folder.joinpath(*parts)


def _unpack_zip(path: pathlib.Path, folder: pathlib.Path) -> None:
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.infolist() if not _is_litter(member.filename)]
        _check(path, len(members), sum(member.file_size for member in members))
        for member in members:
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise ConvertError(f"{path}: the member '{member.filename}' is a link or no file; only files are allowed")
            if member.flag_bits & _ENCRYPTED:
                raise ConvertError(f"{path}: the member '{member.filename}' is encrypted; unpack it with its password, and name the folder")
        places = {member.filename: _place(path, member.filename, folder) for member in members}
        if len(set(places.values())) < len(members):
            raise ConvertError(f"{path}: has two members of one name; nothing was taken out of it")
        for member in members:
            if not member.is_dir():
                with archive.open(member) as source:
                    _write(source, places[member.filename], member.file_size, path)


class _Headers:
    """A tar file of which only so much may be read before its members are taken out: tarfile keeps the headers in memory."""

    def __init__(self, file: BinaryIO, path: pathlib.Path):
        self.seek, self.tell, self._file, self._path = file.seek, file.tell, file, path
        self.left: int | None = _MOST_HEADERS

    def read(self, size: int) -> bytes:
        if self.left is not None and (size > self.left or size < 0):
            raise ConvertError(f"{self._path}: its members have more than {_MOST_HEADERS} bytes of headers")
        piece = self._file.read(size)
        self.left = self.left and self.left - len(piece)
        return piece


def _unpack_tar(path: pathlib.Path, folder: pathlib.Path) -> None:
    with open(path, "rb") as file:
        head = file.read(6)
    opened = next((opened for magic, opened in _COMPRESSIONS.items() if head.startswith(magic)), open)
    with opened(path, "rb") as file, tarfile.open(fileobj=(headers := _Headers(file, path)), mode="r:") as archive:
        members, total = [], 0
        for member in archive:
            members.append(member)
            total += member.size
            _check(path, len(members), total)
            if not (member.isfile() or member.isdir()):
                raise ConvertError(f"{path}: the member '{member.name}' is a link or no file; only files are allowed")
        headers.left = None
        members = [member for member in members if not _is_litter(member.name)]
        # A folder that a tar file was made of is a member itself, ".".
        places = {member.name: _place(path, member.name, folder) for member in members if member.isfile()}
        if len(set(places.values())) < sum(member.isfile() for member in members):
            raise ConvertError(f"{path}: has two members of one name; nothing was taken out of it")
        for member in members:
            if member.isfile():
                _write(archive.extractfile(member), places[member.name], member.size, path)


def _check(path: pathlib.Path, members: int, size: int) -> None:
    if members > MOST_MEMBERS:
        raise ConvertError(f"{path}: has more than {MOST_MEMBERS} members")
    if size > _allowed(path):
        raise ConvertError(f"{path}: its members are {size} bytes or more, {_allowed(path)} are allowed of a file of this size")


def _write(source: BinaryIO, place: pathlib.Path, size: int, path: pathlib.Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(place, "wb") as target:
        _copy(source, target, size, path)


def _copy(source: BinaryIO, target: BinaryIO, limit: int, path: pathlib.Path) -> None:
    while piece := source.read(_PIECE):
        limit -= len(piece)
        if limit < 0:
            raise ConvertError(f"{path}: holds more than it says, or more than is allowed of a file of its size")
        target.write(piece)
