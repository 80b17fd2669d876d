#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "mps_runtime/base/clock.h"
#include "server/websocket/message.h"

namespace millrace {

// A protocol on one WebSocket, without its socket and its frames. Used on one thread, the
// WebSocketServer's. When it is destroyed, the client is gone or has all it will get.
class WebSocketSession {
 public:
  struct End {
    WebSocketClose code = WebSocketClose::kNormal;
    std::string reason;  // for people
  };

  virtual ~WebSocketSession() = default;

  // Handles a message of the client. Called only while wants_message().
  virtual void Receive(WebSocketMessage message) = 0;
  // Returns false while enough waits to be done, so that the client is not read.
  virtual bool wants_message() const = 0;
  // Returns the next message for the client, if there is one. Called when the client has room.
  virtual std::optional<WebSocketMessage> Take() = 0;
  // Records that the client has all that was taken.
  virtual void OnAllSent() = 0;
  // Set once the session is over; the connection is closed with it when Take has nothing more.
  virtual const std::optional<End>& end() const = 0;
  // Tells the client, in the protocol's form, what is wrong with what it sent below the protocol.
  // The session must end.
  virtual void Fail(WebSocketClose code, const std::string& message) = 0;
  // Returns true while nothing is in progress that closing would lose.
  virtual bool idle() const = 0;

  // Returns when Advance must be called although nothing happens until then.
  virtual TimePoint due() const = 0;
  // Makes progress without a message: time has passed, or `changed` was called.
  virtual void Advance() = 0;
};

// Makes a session. changed: to be called on any thread when there is something to take, or
// messages are wanted again; it outlives the session.
using MakeWebSocketSession =
    std::function<std::unique_ptr<WebSocketSession>(std::function<void()> changed)>;

}  // namespace millrace
