"""Where models are published. A variable of the environment names a mirror in the place of each."""

import os

from .pull_error import PullError

_HUBS = {
    "HF_ENDPOINT": "https://huggingface.co",
    # Mozilla's registry of translation models and its files, and the records by which Firefox verifies them.
    "MILLRACE_FIREFOX_REGISTRY": "https://storage.googleapis.com/moz-fx-translations-data--303e-prod-translations-data",
    "MILLRACE_FIREFOX_SETTINGS": "https://firefox.settings.services.mozilla.com/v1",
    "MILLRACE_FIREFOX_ATTACHMENTS": "https://firefox-settings-attachments.cdn.mozilla.net",   # their files
    # The index of the packages of Argos Translate, which names where each is.
    "MILLRACE_ARGOS_INDEX": "https://raw.githubusercontent.com/argosopentech/argospm-index/main",
}


def _base(variable: str) -> str:
    given = os.environ.get(variable, "").strip()
    if given and not given.startswith(("http://", "https://")):
        raise PullError(f"{variable}: '{given}' is no http or https address")
    return (given or _HUBS[variable]).rstrip("/")


def hugging_face() -> str:
    return _base("HF_ENDPOINT")


def firefox_registry() -> str:
    return _base("MILLRACE_FIREFOX_REGISTRY")


def firefox_settings() -> str:
    return _base("MILLRACE_FIREFOX_SETTINGS")


def firefox_attachments() -> str:
    return _base("MILLRACE_FIREFOX_ATTACHMENTS")


def argos_index() -> str:
    return _base("MILLRACE_ARGOS_INDEX")
