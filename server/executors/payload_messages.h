#pragma once

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "millrace/executor/v1/executor.pb.h"
#include "models/core/payload.h"

// Inputs, outputs and statuses of requests as messages between the front and its executors, and
// back. What is read fails with INVALID_ARGUMENT in one line if the message is not one that the
// functions here write.
namespace millrace::server {

// The large data of a message, in the order in which they are sent behind it. They stay where they
// are and must outlive this.
using Behind = std::vector<std::string_view>;

// Takes the data behind a message, in order.
class BehindReader {
 public:
  explicit BehindReader(std::string_view bytes) : rest_(bytes) {}

  absl::StatusOr<std::string_view> Take(uint64_t bytes);
  // Fails if data are left.
  absl::Status End() const;

 private:
  std::string_view rest_;
};

void WriteInput(const models::Input& input, executor::v1::Input& message, Behind& behind);
absl::StatusOr<models::Input> ReadInput(const executor::v1::Input& message, BehindReader& behind);

void WriteOutput(const models::Output& output, executor::v1::Output& message, Behind& behind);
absl::StatusOr<models::Output> ReadOutput(const executor::v1::Output& message,
                                          BehindReader& behind);

void WriteStatus(const absl::Status& status, executor::v1::Status& message);
absl::Status ReadStatus(const executor::v1::Status& message);

}  // namespace millrace::server
