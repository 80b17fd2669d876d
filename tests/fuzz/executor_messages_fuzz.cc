// Looks for bytes on a connection between the front and an executor that break the one that reads
// them. The first byte of an input says who reads: the front (even) or an executor (odd). What is
// read is written and read again, and must be the same.
//
// usage: executor_messages_fuzz [-max_total_time=60] tests/fuzz/seeds/executor_messages

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/executor/v1/executor.pb.h"
#include "models/core/strings.h"
#include "server/executors/frame.h"
#include "server/executors/model_info_messages.h"
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

std::string Joined(const Behind& behind) {
  std::string all;
  for (const std::string_view piece : behind) all += piece;
  return all;
}

// The bytes of a step, as the front sends it.
std::string Written(const StepOrder& order) {
  executor::v1::Step message;
  message.set_model(order.model);
  Behind behind;
  for (const StepOrder::Entry& entry : order.requests)
    WriteRequest(entry.id, entry.expires, entry.input ? &*entry.input : nullptr, message, behind);
  return message.SerializeAsString() + Joined(behind);
}

void ReadAsExecutor(const MessageFrame& frame) {
  executor::v1::ToExecutor control;
  control.ParseFromString(frame.header);
  executor::v1::Step message;
  if (!message.ParseFromString(frame.header)) return;
  const auto order = ReadStep(message, frame.behind);
  if (!order.ok()) return RequireError(order.status());
  executor::v1::Step again;
  Behind behind;
  again.set_model(order->model);
  for (const StepOrder::Entry& entry : order->requests)
    WriteRequest(entry.id, entry.expires, entry.input ? &*entry.input : nullptr, again, behind);
  const auto reread = ReadStep(again, Joined(behind));
  Require(reread.ok(), "does not read what it has written");
  Require(Written(*reread) == Written(*order), "reads something else than it has written");
}

void ReadAsFront(const MessageFrame& frame) {
  executor::v1::FromExecutor control;
  if (control.ParseFromString(frame.header) && control.has_loaded()) {
    const auto info = ReadModelInfo(control.loaded().info());
    if (!info.ok()) RequireError(info.status());
  }
  executor::v1::StepDone message;
  if (!message.ParseFromString(frame.header)) return;
  const auto results =
      ReadStepDone(message, frame.behind, static_cast<size_t>(message.results_size()));
  if (!results.ok()) return RequireError(results.status());
  executor::v1::StepDone again;
  Behind behind;
  for (const StepResult& result : *results) WriteResult(result, again, behind);
  Require(ReadStepDone(again, Joined(behind), results->size()).ok(),
          "does not read what it has written");
}

}  // namespace
}  // namespace millrace::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace millrace::server;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  MessageReader reader(kLimits);
  // In two pieces, as a socket may give them.
  reader.Append(bytes.substr(0, bytes.size() / 2));
  reader.Append(bytes.substr(bytes.size() / 2));
  while (true) {
    const auto frame = reader.Next();
    if (!frame.ok()) {
      RequireError(frame.status());
      return 0;
    }
    if (!*frame) return 0;
    data[0] % 2 == 0 ? ReadAsFront(**frame) : ReadAsExecutor(**frame);
  }
}
