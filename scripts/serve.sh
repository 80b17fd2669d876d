#!/usr/bin/env bash
# From nothing to a running daemon in the foreground. Arguments go to `millrace serve`.
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

# Asked before minutes of building; only for the default addresses, as arguments or variables may name others.
default_addresses=1
case " $* " in *"-address"* | *" --config"*) default_addresses= ;; esac
if env | grep -qE '^MILLRACE_(GRPC_ADDRESS|HTTP_ADDRESS|METRICS_ADDRESS|CONFIG)='; then default_addresses=; fi
if [ -n "$default_addresses" ]; then
  for port in 8001 8000 8002; do
    if port_in_use "$port"; then
      die "port $port is in use (8001 gRPC, 8000 HTTP, 8002 metrics): stop the program that has it, or choose other addresses:" \
        "make serve ARGS='--grpc-address 127.0.0.1:9001 --http-address 127.0.0.1:9000 --metrics-address 127.0.0.1:9002'"
    fi
  done
fi

scripts/deps.sh serve
scripts/build.sh
scripts/models.sh

# Says how to try it once the daemon is ready, and leaves with it. exec below keeps this shell's process id.
if [ -n "$default_addresses" ]; then
  (
    trap - INT TERM
    while kill -0 $$ 2>/dev/null; do
      if [ "$(http_status 8000 /v2/health/ready)" = 200 ]; then
        cat <<'TRY'

Ready. Try it from another terminal:
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
