#!/usr/bin/env bash
# From nothing to a running daemon in the foreground. Arguments go to `millrace serve`.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

# is_default <name>: neither an argument, nor a variable, nor perhaps a file gives the address of gRPC, HTTP or metrics.
arguments=" $* "
is_default() {
  local variable
  variable="MILLRACE_$(printf '%s' "$1" | tr '[:lower:]' '[:upper:]')_ADDRESS"
  case "$arguments" in *" --$1-address"* | *" --config"*) return 1 ;; esac
  [ -z "${!variable+set}" ] && [ -z "${MILLRACE_CONFIG+set}" ]
}

# Asked before minutes of building.
for name_and_port in grpc:8001 http:8000 metrics:8002; do
  port="${name_and_port#*:}"
  if is_default "${name_and_port%:*}" && port_in_use "$port"; then
    die "port $port is in use (8001 gRPC, 8000 HTTP, 8002 metrics): stop the program that has it, or choose other addresses:" \
      "make serve ARGS='--grpc-address 127.0.0.1:9001 --http-address 127.0.0.1:9000 --metrics-address 127.0.0.1:9002'"
  fi
done

if ! [ -x build/millrace ]; then
  say "the first time takes 10 to 20 minutes on two cores, nearly all of it compiling; later it takes seconds"
  note "it may be interrupted, and goes on from there when it is run again"
fi
say "step 1 of 3: install what is missing"
scripts/deps.sh serve
say "step 2 of 3: build the daemon"
scripts/build.sh
say "step 3 of 3: convert the demo models"
scripts/models.sh

# Says how to try it once the daemon is ready, and leaves with it. exec below keeps this shell's process id.
if is_default grpc && is_default http; then
  (
    trap - INT TERM
    while kill -0 $$ 2>/dev/null; do
      if [ "$(http_status 8000 /v2/health/ready)" = 200 ]; then
        cat <<'TRY'

Ready: http://localhost:8000/ speaks, translates and shows what the server does.
From another terminal:
  build/millrace translate "The weather is lovely today." --model bergamot-en-pt
  build/millrace synthesize "Hello from Millrace." --model piper-en-us-joe -o hello.wav
  curl -i localhost:8000/v2/health/ready

TRY
        break
      fi
      sleep 0.2
    done
  ) &
fi
say "serving $MODELS; Ctrl-C drains and stops"
exec build/millrace serve --models "$MODELS" "$@"
