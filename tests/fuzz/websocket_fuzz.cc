// Looks for bytes that a WebSocket reads differently when they come in other parts, or holds more
// of than its limits allow, and for messages of ElevenLabs' clients that are not read.
//
// usage: websocket_fuzz [-max_total_time=60] tests/fuzz/seeds/websocket

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/frontends/elevenlabs/stream_message.h"
#include "server/websocket/frames.h"
#include "tests/fuzz/require.h"

namespace millrace {
namespace {

constexpr WebSocketFrames::Limits kLimits = {
    .max_message_bytes = 300, .frames_per_second = 1, .frames_at_once = 100};

// Returns what becomes of the bytes: the messages, and whether they were too many.
std::string ReadAll(std::string_view bytes, size_t part) {
  WebSocketFrames frames(kLimits);
  std::string messages;
  while (!bytes.empty()) {
    const std::string_view next = bytes.substr(0, part);
    bytes.remove_prefix(next.size());
    frames.Push(next, TimePoint());
    while (const auto message = frames.Next()) {
      Require(message->data.size() <= kLimits.max_message_bytes, "a message is too long");
      messages += message->binary ? "binary " : "text ";
      messages += message->data + "\n";
      if (!message->binary)
        messages += server::ParseStreamMessage(message->data).ok() ? "read\n" : "refused\n";
    }
  }
  // A pong is as long as its ping, and a close ends all.
  Require(frames.unsent().size() <= 128 * static_cast<size_t>(kLimits.frames_at_once + 1),
          "answers too much");
  // The library checks the reason of a close in each part by itself, so that one that is no UTF-8
  // ends the connection sooner or later. No message comes after it.
  return messages + (frames.excess() != WebSocketFrames::Excess::kNone ? "excess" : "");
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using millrace::ReadAll;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = ReadAll(bytes, std::max<size_t>(size, 1));
  for (const size_t part : {1, 7})
    millrace::Require(ReadAll(bytes, part) == whole, "parts are read differently");
  return 0;
}
