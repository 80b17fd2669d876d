"""Files of API keys."""

from .daemon import run


def user_key(folder, key):
    """A file with the hash of this key, which is alice's."""
    made = run("hash-key", "alice", "--role", "user", "--stdin", stdin=key.encode())
    assert made.returncode == 0, made.stderr
    keys = folder / "keys"
    keys.write_bytes(made.stdout)
    keys.chmod(0o600)
    return keys
