#include "server/websocket/frames.h"

#include <wslay/wslay.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "models/core/strings.h"

namespace millrace {
namespace {

constexpr size_t kMaxReasonBytes = 123;  // the room of a control frame beside the code

const uint8_t* Bytes(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

// Cuts a text before a character that does not fit.
std::string_view Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

// Returns the frame of a close. The reason must fit in one.
std::string CloseFrame(uint16_t code, std::string_view reason) {
  return StrCat("\x88", std::string(1, static_cast<char>(2 + reason.size())),
                std::string(1, static_cast<char>(code >> 8U)),
                std::string(1, static_cast<char>(code & 0xFFU)), reason);
}

// A function that a library of C calls must not throw.
template <typename Function>
void WithoutThrowing(bool& failed, Function function) {
  try {
    function();
  } catch (const std::bad_alloc&) {
    failed = true;
  }
}

}  // namespace

struct WebSocketFrames::Callbacks {
  static WebSocketFrames& Self(void* data) { return *static_cast<WebSocketFrames*>(data); }

  static ssize_t Receive(wslay_event_context* context, uint8_t* buffer, size_t size, int /*flags*/,
                         void* data) {
    WebSocketFrames& self = Self(data);
    const bool stop = self.failed_ || self.excess_ != Excess::kNone;
    const size_t count = stop ? 0 : std::min(size, self.input_.size());
    if (count == 0) {
      wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK);
      return -1;
    }
    std::memcpy(buffer, self.input_.data(), count);
    self.input_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }

  static ssize_t Send(wslay_event_context* context, const uint8_t* bytes, size_t size,
                      int /*flags*/, void* data) {
    WebSocketFrames& self = Self(data);
    WithoutThrowing(self.failed_,
                    [&] { self.unsent_.append(reinterpret_cast<const char*>(bytes), size); });
    if (!self.failed_) return static_cast<ssize_t>(size);
    wslay_event_set_error(context, WSLAY_ERR_NOMEM);
    return -1;
  }

  static void OnFrameStart(wslay_event_context* /*context*/,
                           const wslay_event_on_frame_recv_start_arg* frame, void* data) {
    Self(data).OnFrame(frame->opcode, frame->payload_length);
  }

  static void OnFrameBytes(wslay_event_context* /*context*/,
                           const wslay_event_on_frame_recv_chunk_arg* chunk, void* data) {
    WebSocketFrames& self = Self(data);
    WithoutThrowing(self.failed_, [&] {
      self.OnBytes({reinterpret_cast<const char*>(chunk->data), chunk->data_length});
    });
  }

  static void OnMessageEnd(wslay_event_context* /*context*/,
                           const wslay_event_on_msg_recv_arg* message, void* data) {
    WebSocketFrames& self = Self(data);
    WithoutThrowing(self.failed_, [&] { self.OnMessage(message->opcode); });
  }
};

void WebSocketFrames::Free::operator()(wslay_event_context* context) const {
  wslay_event_context_free(context);
}

WebSocketFrames::WebSocketFrames(const Limits& limits)
    : limits_(limits), frames_(limits.frames_per_second, limits.frames_at_once) {
  wslay_event_callbacks callbacks{};
  callbacks.recv_callback = Callbacks::Receive;
  callbacks.send_callback = Callbacks::Send;
  callbacks.on_frame_recv_start_callback = Callbacks::OnFrameStart;
  callbacks.on_frame_recv_chunk_callback = Callbacks::OnFrameBytes;
  callbacks.on_msg_recv_callback = Callbacks::OnMessageEnd;
  wslay_event_context* context = nullptr;
  if (wslay_event_context_server_init(&context, &callbacks, this) != 0) throw std::bad_alloc();
  context_.reset(context);
  // Messages are put together here. The library would allocate what a frame announces.
  wslay_event_config_set_no_buffering(context, 1);
  wslay_event_config_set_max_recv_msg_length(context, UINT64_MAX >> 1U);
}

WebSocketFrames::~WebSocketFrames() = default;

void WebSocketFrames::Push(std::string_view bytes, TimePoint now) {
  if (excess_ != Excess::kNone) return;
  input_ = bytes;
  now_ = now;
  const int result = wslay_event_recv(context_.get());
  input_ = {};
  if (failed_ || result == WSLAY_ERR_NOMEM) throw std::bad_alloc();
  // Nothing more is read, and the connection's owner has the last word.
  if (excess_ != Excess::kNone) return;
  Flush();
  if (wslay_event_get_read_enabled(context_.get()) != 0 || std::exchange(closing_, true)) return;
  if (!half_code_ && wslay_event_get_close_received(context_.get()) != 0) return;
  Explain(/*unreadable=*/result != 0);
}

void WebSocketFrames::Explain(bool unreadable) {
  const bool text =
      wslay_event_get_status_code_sent(context_.get()) == WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA;
  std::string_view reason =
      "a frame is not masked, has reserved bits, an unknown opcode or code, or is out of its turn";
  if (text) {
    reason = "a text, or the reason of a close, is not UTF-8";
  } else if (half_code_) {
    reason = "a close has 1 byte; it must have none, or a code of 2";
  } else if (unreadable) {
    reason =
        "a control frame is a fragment or has more than 125 bytes, or a length is longer than "
        "needed";
  }
  // The close of the library is the last that it wrote. It has no reason, and a code only where the
  // frame could be read.
  unsent_.erase(unsent_.end() - (unreadable || half_code_ ? 2 : 4), unsent_.end());
  unsent_ +=
      CloseFrame(text ? WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA : WSLAY_CODE_PROTOCOL_ERROR, reason);
}

void WebSocketFrames::OnFrame(uint8_t opcode, uint64_t bytes) {
  if (excess_ != Excess::kNone) return;
  in_data_ = !wslay_is_ctrl_frame(opcode);
  half_code_ = opcode == WSLAY_CONNECTION_CLOSE && bytes == 1;
  if (!frames_.Add(now_)) {
    excess_ = Excess::kFrames;
  } else if (in_data_ && bytes > limits_.max_message_bytes - message_.size()) {
    excess_ = Excess::kMessageBytes;
  }
  if (excess_ != Excess::kNone) wslay_event_shutdown_read(context_.get());
}

void WebSocketFrames::OnBytes(std::string_view bytes) {
  if (in_data_ && excess_ == Excess::kNone) message_ += bytes;
}

void WebSocketFrames::OnMessage(uint8_t opcode) {
  if (wslay_is_ctrl_frame(opcode) || excess_ != Excess::kNone) return;
  messages_.push_back({std::exchange(message_, {}), opcode == WSLAY_BINARY_FRAME});
}

std::optional<WebSocketMessage> WebSocketFrames::Next() {
  if (messages_.empty()) return std::nullopt;
  std::optional<WebSocketMessage> next = std::move(messages_.front());
  messages_.pop_front();
  return next;
}

bool WebSocketFrames::closed() const {
  return wslay_event_get_close_sent(context_.get()) != 0 &&
         wslay_event_get_close_received(context_.get()) != 0;
}

void WebSocketFrames::Send(const WebSocketMessage& message) {
  const wslay_event_msg queued = {
      .opcode = static_cast<uint8_t>(message.binary ? WSLAY_BINARY_FRAME : WSLAY_TEXT_FRAME),
      .msg = Bytes(message.data),
      .msg_length = message.data.size()};
  if (wslay_event_queue_msg(context_.get(), &queued) == WSLAY_ERR_NOMEM) throw std::bad_alloc();
  Flush();
}

void WebSocketFrames::Ping() {
  const wslay_event_msg ping = {.opcode = WSLAY_PING, .msg = nullptr, .msg_length = 0};
  if (wslay_event_queue_msg(context_.get(), &ping) == WSLAY_ERR_NOMEM) throw std::bad_alloc();
  Flush();
}

void WebSocketFrames::Close(WebSocketClose code, std::string_view reason) {
  if (std::exchange(closing_, true)) return;
  reason = Shortened(reason, kMaxReasonBytes);
  if (wslay_event_queue_close(context_.get(), static_cast<uint16_t>(code), Bytes(reason),
                              reason.size()) == WSLAY_ERR_NOMEM)
    throw std::bad_alloc();
  Flush();
}

void WebSocketFrames::Flush() {
  while (wslay_event_want_write(context_.get()) != 0) {
    if (wslay_event_send(context_.get()) != 0) throw std::bad_alloc();
  }
}

void WebSocketFrames::Sent(size_t bytes) {
  sent_ += bytes;
  if (sent_ < unsent_.size()) return;
  sent_ = 0;
  // An idle connection holds no buffer.
  unsent_ = std::string();
}

}  // namespace millrace
