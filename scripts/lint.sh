#!/usr/bin/env bash
# Checks that need no compiled code. With files given, clang-tidy looks at those too (it needs build/compile_commands.json).
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

say "clang-format"
scripts/format.sh --check

say "shellcheck"
shellcheck -x scripts/*.sh .ci/run
shellcheck deploy/debian/preinst deploy/debian/postinst deploy/debian/prerm deploy/debian/postrm

say "python -m compileall"
"$VENV/bin/python" -m compileall -q models/convert tests deploy scripts

say "pyflakes"
"$VENV/bin/python" -m pyflakes models/convert tests deploy scripts

if promtool="$(prometheus_tool promtool)"; then
  say "promtool"
  "$promtool" check rules deploy/prometheus/alerts.yml
  "$promtool" check config deploy/prometheus/prometheus.yml
  "$promtool" test rules deploy/prometheus/alerts_test.yml
fi

say "no class is defined twice in a namespace"
"$VENV/bin/python" scripts/check_class_names.py

say "documents name what exists"
"$VENV/bin/python" scripts/check_document_paths.py

say "folders include only those below them"
"$VENV/bin/python" scripts/check_includes.py

say "methods of the Ray package are those of the services"
"$VENV/bin/python" scripts/ray_methods.py --check

say "comments are sentences"
"$VENV/bin/python" scripts/check_comments.py

say "every field in proto/ has a comment"
"$VENV/bin/python" scripts/check_proto_comments.py

say "dashboard is what its generator writes"
"$VENV/bin/python" deploy/grafana/dashboard.py --check

if [ $# -gt 0 ]; then scripts/tidy.sh "$@"; fi
