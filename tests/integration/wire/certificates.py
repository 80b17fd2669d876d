"""Certificates for tests, made by the program openssl."""

import pathlib
import shutil
import subprocess

import grpc
import pytest


class Authority:
    """Signs certificates; one that is valid for this machine only."""

    def __init__(self, folder: pathlib.Path, name: str) -> None:
        if shutil.which("openssl") is None:
            pytest.skip("the program openssl is not installed")
        self._folder = folder
        self.certificate = folder / f"{name}.pem"
        self._key = folder / f"{name}.key"
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                 "-subj", f"/CN={name}", "-keyout", self._key, "-out", self.certificate)

    def issue(self, name: str) -> tuple[pathlib.Path, pathlib.Path]:
        """A certificate for 127.0.0.1 and localhost, and its key."""
        certificate, key, request = (self._folder / f"{name}.{kind}" for kind in ("pem", "key", "csr"))
        extensions = self._folder / "extensions"
        extensions.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        _openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                 "-keyout", key, "-out", request)
        _openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial", "-days", "2",
                 "-extfile", extensions, "-out", certificate)
        return certificate, key

    def client(self, certificate: tuple[pathlib.Path, pathlib.Path] | None = None) -> grpc.ChannelCredentials:
        """What a client needs that trusts this authority, and shows a certificate if it has one."""
        chain, key = (part.read_bytes() for part in certificate) if certificate else (None, None)
        return grpc.ssl_channel_credentials(self.certificate.read_bytes(), key, chain)


def _openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
