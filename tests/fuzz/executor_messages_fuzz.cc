// Looks for bytes on a connection between the front and an executor that break the one that reads
// them. The first byte of an input says who reads: the front (even) or an executor (odd). What is
// read is written and read again, and must be the same.
//
// usage: executor_messages_fuzz [-max_total_time=60] tests/fuzz/seeds/executor_messages

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>

#include "models/core/strings.h"
#include "server/executors/control_messages.h"
#include "server/executors/frame.h"
#include "server/executors/step_messages.h"
#include "tests/fuzz/require.h"

namespace millrace::server {
namespace {

constexpr MessageLimits kLimits{.header = 1 << 20, .behind = 1 << 20};

void RequireError(const absl::Status& status) {
  Require(absl::IsInvalidArgument(status), "refuses with another status");
  Require(!status.message().empty(), "refuses without a reason");
  Require(Message(status).find('\n') == std::string_view::npos, "refuses in several lines");
}

MessageFrame FrameOf(const FieldWriter& message) {
  MessageFrame frame{.header = message.header(), .behind = {}};
  for (const std::string_view piece : message.behind()) frame.behind += piece;
  return frame;
}

// Returns a step as the front sends it.
MessageFrame Written(const StepOrder& order) {
  FieldWriter message;
  message(order.model);
  for (const StepOrder::Entry& entry : order.requests) {
    const auto* const speech =
        entry.input ? std::get_if<models::SynthesizeInput>(&*entry.input) : nullptr;
    WriteRequest(entry.id, entry.expires, entry.input ? &*entry.input : nullptr, message,
                 speech != nullptr ? speech->spoken : models::SpokenSoFar());
  }
  return FrameOf(message);
}

template <typename Message>
void RequireSame(const absl::StatusOr<Message>& message,
                 absl::StatusOr<Message> (*read)(std::string_view)) {
  if (!message.ok()) return RequireError(message.status());
  const std::string written = WriteControl(*message);
  const auto again = read(written);
  Require(again.ok() && WriteControl(*again) == written, "does not read what it has written");
}

void ReadAsExecutor(const MessageFrame& frame) {
  RequireSame(ReadToExecutor(frame.header), &ReadToExecutor);
  const auto order = ReadStep(frame);
  if (!order.ok()) return RequireError(order.status());
  const auto again = ReadStep(Written(*order));
  Require(again.ok(), "does not read what it has written");
  Require(Written(*again).header == Written(*order).header &&
              Written(*again).behind == Written(*order).behind,
          "reads something else than it has written");
}

void ReadAsFront(const MessageFrame& frame) {
  RequireSame(ReadFromExecutor(frame.header), &ReadFromExecutor);
  // A message begins with the number of its results.
  size_t size = 0;
  if (frame.header.size() >= sizeof(size)) std::memcpy(&size, frame.header.data(), sizeof(size));
  const auto results = ReadResults(frame, size);
  if (!results.ok()) return RequireError(results.status());
  Require(ReadResults(FrameOf(WriteResults(*results)), size).ok(),
          "does not read what it has written");
}

void ReadBytes(const uint8_t* data, size_t size) {
  if (size == 0) return;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  MessageReader reader(kLimits);
  // In two pieces, as a socket may give them.
  reader.Append(bytes.substr(0, bytes.size() / 2));
  reader.Append(bytes.substr(bytes.size() / 2));
  while (true) {
    const auto frame = reader.Next();
    if (!frame.ok()) {
      RequireError(frame.status());
      return;
    }
    if (!*frame) return;
    data[0] % 2 == 0 ? ReadAsFront(**frame) : ReadAsExecutor(**frame);
  }
}

}  // namespace
}  // namespace millrace::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  millrace::server::ReadBytes(data, size);
  return 0;
}
