"""Sends requests of every kind with the command-line clients until it is ended: traffic.py BINARY ADDRESS FOLDER"""

import subprocess
import sys

binary, address, folder = sys.argv[1:]
REQUESTS = [
    ["translate", "The children were playing in the garden.", "--model", "bergamot-en-pt"],
    ["translate", "As crianças estavam no jardim.", "--model", "bergamot-pt-en"],
    ["translate", "", "--model", "bergamot-en-pt"],   # refused: INVALID_ARGUMENT
    ["synthesize", "Good morning. How are you?", "--model", "piper-en-us-joe", "-o", f"{folder}/speech.wav"],
    ["bench-null", "--duration", "200ms", "--warmup", "0s", "--concurrency", "2"],
]
while True:
    for request in REQUESTS:
        subprocess.run([binary, *request, "--address", address], capture_output=True, check=False)
