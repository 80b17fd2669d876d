// Translates a text, and speaks another one with the times of its words. Node.js 18 or later, no packages.
// Usage: node translate.mjs [URL of the server]

import { writeFile } from "node:fs/promises";

const server = process.argv[2] ?? "http://localhost:8000";

async function post(path, body) {
  const response = await fetch(server + path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

const translation = await post("/translate", { q: "Where is the station?", source: "en", target: "pt" });
console.log((await translation.json()).translatedText);

const speech = await post("/v1/audio/speech", { model: "tts-1", voice: "joe", input: "Where is the station?", response_format: "mp3" });
await writeFile("station.mp3", Buffer.from(await speech.arrayBuffer()));
console.log("station.mp3 is written");
