#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "server/frontends/wyoming/event_reader.h"
#include "server/frontends/wyoming/synthesis_reply.h"
#include "server/requests/models_answer.h"
#include "server/requests/services.h"
#include "server/sockets/byte_session.h"
#include "server/sockets/leaky_bucket.h"

namespace millrace::server {

// The state that the sessions of a server share. The references must outlive them.
struct WyomingContext {
  Services& services;
  ModelsAnswer<std::string>& info;  // the bytes of the info event
  std::function<bool()> started;    // returns true once the models are loaded
  Duration event_timeout{};         // from the first byte of an event to its last
  Duration idle_timeout{};          // for a connection without a synthesis
  Duration stall_timeout{};         // for a client that takes nothing
  Duration text_timeout{};          // for more of a text, after which it may give way
};

// The protocol on one connection. One synthesis runs at a time; the next one waits, while other
// events are still answered. An error ends the session once the client has received it. Used on one
// thread, the connection's.
class Session final : public ByteSession {
 public:
  // changed: see SynthesisReply.
  Session(const WyomingContext& context, std::string address, std::function<void()> changed);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // Stops the work because the client is gone.
  ~Session() override;

  void Receive(std::string_view bytes) override;
  // Returns false while enough events wait, and at the end.
  bool wants_bytes() const override;
  void Advance() override;
  bool has_more() const override { return has_more_; }
  std::string_view unsent() const override { return std::string_view{unsent_}.substr(sent_); }
  void Sent(size_t bytes) override;
  // Returns true if the connection is to be closed, once nothing is unsent.
  bool over() const override { return over_; }
  TimePoint due() const override;
  // Returns the time of the last event where nothing is in progress, or the time since which a text
  // in pieces waits for more, if that is long ago and nothing of it is being spoken.
  std::optional<TimePoint> IdleSince(TimePoint now) const override;

 private:
  // Returns true while nothing is in progress.
  bool idle() const { return reply_ == nullptr && unsent().empty(); }
  // Returns false while an event must wait for the end of a synthesis, or for room.
  bool MayHandleEvents() const;
  void Handle(WyomingEvent event);
  void Begin(WyomingEvent event, SynthesisReply::Kind kind);
  void Push(WyomingEvent event);
  // Moves events, and the end, from the reply.
  void TakeOutput();
  bool AwaitsRestOfEvent() const;
  void EndOverdue(TimePoint now);
  void Send(std::string_view event);
  // Sends an error to the client, which ends the session.
  void Fail(const absl::Status& status);

  const WyomingContext& context_;
  const std::string address_;
  const std::function<void()> changed_;
  EventReader reader_;
  LeakyBucket events_;
  std::optional<WyomingEvent> held_;  // waits to be handled
  bool has_more_ = false;             // events that came wait for the next turn
  std::unique_ptr<SynthesisReply> reply_;
  bool reply_ended_ = false;
  bool overdue_ = false;    // the reply has been told to end
  bool text_open_ = false;  // between synthesize-start and synthesize-stop
  bool over_ = false;
  std::string unsent_;  // the client has the first sent_ bytes
  size_t sent_ = 0;
  TimePoint last_event_;     // or the end of a synthesis
  TimePoint last_progress_;  // when bytes began to wait for the client, or it took some
};

}  // namespace millrace::server
