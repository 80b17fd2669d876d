#include "server/executors/payload_messages.h"

#include <variant>

#include "models/core/strings.h"
#include "server/executors/message_fields.h"
#include "server/executors/task_messages.h"

namespace millrace::server {

namespace wire = executor::v1;

absl::StatusOr<std::string_view> BehindReader::Take(uint64_t bytes) {
  if (bytes > rest_.size()) return Malformed("data are missing behind it");
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

absl::Status BehindReader::End() const {
  return rest_.empty() ? absl::OkStatus() : Malformed("data behind it belong to nothing");
}

void WriteInput(const models::Input& input, wire::Input& message, Behind& behind) {
  std::visit([&](const auto& of_task) { WriteTask(of_task, message, behind); }, input);
}

absl::StatusOr<models::Input> ReadInput(const wire::Input& message, BehindReader& behind) {
  switch (message.kind_case()) {
    case wire::Input::kInfer:
      return ReadTask(message.infer(), behind);
    case wire::Input::kTranslate:
      return ReadTask(message.translate(), behind);
    case wire::Input::kSynthesize:
      return ReadTask(message.synthesize(), behind);
    case wire::Input::KIND_NOT_SET:
      break;
  }
  return Malformed("an input has no task");
}

void WriteOutput(const models::Output& output, wire::Output& message, Behind& behind) {
  std::visit([&](const auto& of_task) { WriteTask(of_task, message, behind); }, output);
}

absl::StatusOr<models::Output> ReadOutput(const wire::Output& message, BehindReader& behind) {
  switch (message.kind_case()) {
    case wire::Output::kInfer:
      return ReadTask(message.infer(), behind);
    case wire::Output::kTranslate:
      return ReadTask(message.translate(), behind);
    case wire::Output::kSynthesize:
      return ReadTask(message.synthesize(), behind);
    case wire::Output::KIND_NOT_SET:
      break;
  }
  return Malformed("an output has no task");
}

void WriteStatus(const absl::Status& status, wire::Status& message) {
  message.set_code(static_cast<int>(status.code()));
  message.set_message(std::string(Message(status)));
}

absl::Status ReadStatus(const wire::Status& message) {
  if (message.code() == 0) return absl::OkStatus();
  constexpr int kLast = static_cast<int>(absl::StatusCode::kUnauthenticated);
  if (message.code() < 0 || message.code() > kLast)
    return Malformed(StrCat("unknown status ", message.code()));
  return {static_cast<absl::StatusCode>(message.code()), message.message()};
}

}  // namespace millrace::server
