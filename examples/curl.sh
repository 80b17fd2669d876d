#!/bin/sh
# Speech and translation over HTTP. Usage: curl.sh [URL of the server]
set -eu
server="${1:-http://localhost:8000}"

echo "ready: $(curl -fsS -o /dev/null -w '%{http_code}' "$server/v2/health/ready")"

curl -fsS "$server/translate" -H 'Content-Type: application/json' \
  -d '{"q": "Good morning. How are you?", "source": "en", "target": "pt"}'
echo

curl -fsS "$server/v1/audio/speech" -H 'Content-Type: application/json' \
  -d '{"model": "tts-1", "voice": "joe", "input": "Good morning.", "response_format": "wav"}' -o good-morning.wav
echo "good-morning.wav: $(wc -c <good-morning.wav) bytes"

# Pauses and rates within a text.
curl -fsS "$server/v1/audio/speech" -H 'Content-Type: application/json' \
  -d '{"model": "tts-1", "voice": "joe", "text_format": "tags", "input": "Ready? [pause:1s] [rate:120%]Go."}' -o ready.mp3
echo "ready.mp3: $(wc -c <ready.mp3) bytes"
