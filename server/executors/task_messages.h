#pragma once

#include "absl/status/statusor.h"
#include "millrace/executor/v1/executor.pb.h"
#include "models/core/payload.h"
#include "server/executors/payload_messages.h"

// The inputs and outputs of each task as messages; see payload_messages.h, which asks for these.
namespace millrace::server {

void WriteTask(const models::InferInput& input, executor::v1::Input& message, Behind& behind);
void WriteTask(const models::TranslateInput& input, executor::v1::Input& message, Behind& behind);
void WriteTask(const models::SynthesizeInput& input, executor::v1::Input& message, Behind& behind);
void WriteTask(const models::InferOutput& output, executor::v1::Output& message, Behind& behind);
void WriteTask(const models::TranslateOutput& output, executor::v1::Output& message,
               Behind& behind);
void WriteTask(const models::SynthesizeOutput& output, executor::v1::Output& message,
               Behind& behind);

absl::StatusOr<models::Input> ReadTask(const executor::v1::InferInput& message,
                                       BehindReader& behind);
absl::StatusOr<models::Input> ReadTask(const executor::v1::TranslateInput& message,
                                       BehindReader& behind);
absl::StatusOr<models::Input> ReadTask(const executor::v1::SynthesizeInput& message,
                                       BehindReader& behind);
absl::StatusOr<models::Output> ReadTask(const executor::v1::InferOutput& message,
                                        BehindReader& behind);
absl::StatusOr<models::Output> ReadTask(const executor::v1::TranslateOutput& message,
                                        BehindReader& behind);
absl::StatusOr<models::Output> ReadTask(const executor::v1::SynthesizeOutput& message,
                                        BehindReader& behind);

}  // namespace millrace::server
