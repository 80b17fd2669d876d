#!/usr/bin/env bash
# Has LibreOffice open translated documents. Needs its packages libreoffice-writer and libreoffice-impress, which take half a gigabyte, so
# this runs on demand. Arguments go to pytest. With MILLRACE_BINARY, the path of a daemon, nothing else is built or installed.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

command -v soffice >/dev/null || die "LibreOffice is missing: install libreoffice-writer and libreoffice-impress"
if [ -z "${MILLRACE_BINARY:-}" ]; then
  scripts/deps.sh serve test
  scripts/build.sh millrace
  scripts/models.sh
fi

say "pytest tests/integration/check_office.py (documents in var/office)"
exec "$VENV/bin/python" -m pytest -q --basetemp "$ROOT/var/office" tests/integration/check_office.py "$@"
