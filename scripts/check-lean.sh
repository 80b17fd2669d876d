#!/usr/bin/env bash
# Builds the daemon with few front ends (the preset lean of CMakePresets.json) and starts it once: what is in it answers, and what is left
# out does not and is refused by name. Most objects are those of build/, which ccache has. Takes the model null of var/models.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

PROGRAM=build-lean/millrace
say "build: the preset lean with $(jobs) jobs"
cmake --preset lean >/dev/null || die "cmake could not configure build-lean/"
cmake --build --preset lean --parallel "$(jobs)" || die "the build failed; the compiler's message is above"

say "what it says of itself"
"$PROGRAM" version | grep -qx 'front ends: openai, libretranslate, kserve, millrace, console' || die "\`$PROGRAM version\` names other front ends"
if "$PROGRAM" serve --help | grep -q -e --wyoming-address; then die "--help has an option of a front end that is left out"; fi
status=0
said="$("$PROGRAM" check --wyoming-address 127.0.0.1:0 2>&1)" || status=$?
if [ "$status" != 2 ] || [[ "$said" != *"--wyoming-address: this build has no front end 'wyoming'"* ]]; then
  die "--wyoming-address was not refused by name" "$said"
fi

say "what it serves"
run="$(mktemp -d)"
mkdir "$run/models"
cp -R "$MODELS/null" "$run/models/null"
"$PROGRAM" serve --models "$run/models" --grpc-address 127.0.0.1:0 --http-address 127.0.0.1:0 --metrics-address off --port-file "$run/ports" \
  >"$run/log" 2>&1 &
daemon=$!
trap 'kill "$daemon" 2>/dev/null || true; rm -rf "$run"' EXIT
for _ in $(seq 300); do
  [ ! -f "$run/ports" ] || break
  kill -0 "$daemon" 2>/dev/null || die "the daemon has ended" "$(cat "$run/log")"
  sleep 0.1
done
[ -f "$run/ports" ] || die "the daemon does not serve after 30 s" "$(cat "$run/log")"
"$VENV/bin/python" - "$run/ports" <<'END' || die "it does not serve what it should" "$(cat "$run/log")"
import json
import sys
import urllib.error
import urllib.request

ports = json.load(open(sys.argv[1]))
assert set(ports) == {"grpc", "http", "metrics"}, ports


def ask(path, body=None):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{ports['http']}{path}", body, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


described = json.loads(ask("/openapi.json")[1])
assert "x-undescribed" not in described, described["x-undescribed"]
for path in ("/v1/audio/speech", "/translate", "/v2/models/{model}/infer", "/console/{file}"):
    assert path in described["paths"], path
for path in ("/v2/translate", "/v1/voices", "/imme"):
    assert path not in described["paths"] and ask(path, b"{}")[0] == 404, path
for path in ("/", "/v2/health/ready", "/v1/models", "/languages"):
    assert ask(path)[0] == 200, (path, ask(path))
assert ask("/v2/models/null/infer", json.dumps({"inputs": []}).encode())[0] in (200, 400)
END
"$PROGRAM" models --address "127.0.0.1:$(sed -E 's/.*"grpc": ([0-9]+).*/\1/' "$run/ports")" | grep -q null || die "\`$PROGRAM models\` does not name the model"
kill "$daemon"
wait "$daemon" || die "the daemon ended with an error" "$(cat "$run/log")"
say "lean: passed"
