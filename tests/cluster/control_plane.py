"""A control plane of Kubernetes on loopback: etcd, the API server, the controllers, the scheduler, and kwok, which plays the kubelets."""

import contextlib
import os
import pathlib
import shutil
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator

import yaml
from daemon import ROOT, free_port, running, wait_for

TOOLS = ROOT / ".tools"
PROGRAMS = [TOOLS / "kubernetes" / "bin", TOOLS / "kubernetes" / "venv" / "bin", TOOLS / "bin"]


def find(name: str) -> str:
    """The program that scripts/check-kubernetes.sh installed, or the system's."""
    program = shutil.which(name, path=os.pathsep.join(map(str, PROGRAMS))) or shutil.which(name)
    assert program is not None, f"{name} is not installed: run scripts/check-kubernetes.sh"
    return program


class Authority:
    """A certificate authority in a folder, and the kubeconfig files of those whom it certifies."""

    def __init__(self, folder: pathlib.Path, server: str) -> None:
        self.folder = folder
        self.server = server
        self.certificate = folder / "ca.crt"
        self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 2, "-subj", "/CN=cluster", "-keyout", folder / "ca.key",
                      "-out", self.certificate)

    @staticmethod
    def _openssl(*arguments: object) -> None:
        subprocess.run(["openssl", *map(str, arguments)], capture_output=True, check=True)

    def certify(self, name: str, subject: str) -> tuple[pathlib.Path, pathlib.Path]:
        """The certificate and the key of a program that serves on loopback, or calls the API server, as `subject`."""
        certificate, key, request, extensions = (self.folder / f"{name}.{suffix}" for suffix in ("crt", "key", "csr", "ext"))
        extensions.write_text("subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n")
        self._openssl("req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", subject, "-keyout", key, "-out", request)
        self._openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.folder / "ca.key", "-CAcreateserial", "-days", 2,
                      "-extfile", extensions, "-out", certificate)
        return certificate, key

    def kubeconfig(self, name: str, subject: str) -> pathlib.Path:
        certificate, key = self.certify(name, subject)
        file = self.folder / f"{name}.yaml"
        file.write_text(yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": name,
            "clusters": [{"name": "loopback", "cluster": {"server": self.server, "certificate-authority": str(self.certificate)}}],
            "users": [{"name": name, "user": {"client-certificate": str(certificate), "client-key": str(key)}}],
            "contexts": [{"name": name, "context": {"cluster": "loopback", "user": name}}]}))
        return file


@contextlib.contextmanager
def control_plane(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """The kubeconfig file of an administrator, for the time of a with block; the logs lie in the folder."""
    ports = {name: free_port() for name in ("etcd", "peer", "api", "controllers", "scheduler", "kwok")}
    etcd, peer, server = f"http://127.0.0.1:{ports['etcd']}", f"http://127.0.0.1:{ports['peer']}", f"https://127.0.0.1:{ports['api']}"
    authority = Authority(folder, server)
    administrator = authority.kubeconfig("administrator", "/O=system:masters/CN=administrator")
    certificate, key = authority.certify("server", "/CN=kube-apiserver")
    _, accounts = authority.certify("accounts", "/CN=service-accounts")
    client = ssl.create_default_context(cafile=str(authority.certificate))
    client.load_cert_chain(folder / "administrator.crt", folder / "administrator.key")

    with contextlib.ExitStack() as programs:
        def start(name: str, *arguments: str) -> subprocess.Popen:
            return programs.enter_context(running([find(name), *arguments], folder / f"{name}.log"))

        def wait_until_ready(name: str, process: subprocess.Popen, url: str) -> None:
            def ready() -> bool:
                log = folder / f"{name}.log"
                assert process.poll() is None, f"{name} ended with {process.returncode}:\n{log.read_text()[-2000:]}"
                try:
                    with urllib.request.urlopen(url, timeout=5, context=client if url.startswith(server) else _ANYBODY) as answer:
                        return answer.status == 200
                except (urllib.error.URLError, OSError):
                    return False
            wait_for(f"{name} is ready", ready)

        process = start("etcd", "--data-dir", str(folder / "etcd"), "--listen-client-urls", etcd, "--advertise-client-urls", etcd,
                        "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}")
        wait_until_ready("etcd", process, f"{etcd}/health")
        process = start("kube-apiserver", f"--etcd-servers={etcd}", "--bind-address=127.0.0.1", f"--secure-port={ports['api']}",
                        # A loopback address cannot be the endpoint of the Service `kubernetes`, which nothing here uses.
                        "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
                        f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}", f"--client-ca-file={authority.certificate}",
                        f"--service-account-key-file={accounts}", f"--service-account-signing-key-file={accounts}",
                        "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.96.0.0/16",
                        "--authorization-mode=Node,RBAC", "--anonymous-auth=false")
        wait_until_ready("kube-apiserver", process, f"{server}/readyz")
        for name, user, port, more in (
                ("kube-controller-manager", "system:kube-controller-manager", ports["controllers"],
                 ["--use-service-account-credentials", f"--service-account-private-key-file={accounts}", f"--root-ca-file={authority.certificate}"]),
                ("kube-scheduler", "system:kube-scheduler", ports["scheduler"], [])):
            own = authority.kubeconfig(name, f"/CN={user}")
            process = start(name, f"--kubeconfig={own}", f"--authentication-kubeconfig={own}", f"--authorization-kubeconfig={own}",
                            "--bind-address=127.0.0.1", f"--secure-port={port}", f"--cert-dir={folder}", "--leader-elect=false", *more)
            wait_until_ready(name, process, f"https://127.0.0.1:{port}/healthz")
        kwok = f"127.0.0.1:{ports['kwok']}"
        process = start("kwok", f"--kubeconfig={administrator}", "--manage-all-nodes", "--node-ip=127.0.0.1", f"--server-address={kwok}",
                        f"--config={TOOLS / 'kubernetes' / 'stages.yaml'}", "--node-lease-duration-seconds=40")
        wait_until_ready("kwok", process, f"http://{kwok}/healthz")
        yield administrator


# The controllers and the scheduler sign their own certificates.
_ANYBODY = ssl._create_unverified_context()
