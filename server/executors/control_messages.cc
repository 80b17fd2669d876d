#include "server/executors/control_messages.h"

#include "server/executors/payload_fields.h"

namespace millrace::server {

void Fields(auto& archive, MaybeConst<ServerConfig> auto& config) {
  archive(config.models, config.device, config.device_numbers, config.workers, config.mode,
          config.max_in_flight, config.accept_unsafe_concurrency, config.safety_profile,
          config.intra_op_threads, config.graph_cache_entries, config.graph_cache_bytes,
          config.graph_cache, config.graph_cache_new_shape, config.translation_cache_bytes,
          config.translation_cache_entries, config.speech_cache_bytes, config.keep_packed_weights,
          config.cpu_isa, config.require_libtorch, config.log_level, config.log_format);
}

void Fields(auto& archive, MaybeConst<LoadOrder> auto& order) {
  archive(order.model, order.name, order.version);
}

void Fields(auto& archive, MaybeConst<UnloadOrder> auto& order) { archive(order.model); }

void Fields(auto& archive, MaybeConst<CancelOrder> auto& order) { archive(order.request); }

void Fields(auto& archive, MaybeConst<SuspendOrder> auto& order) { archive(order.request); }

void Fields(auto& archive, MaybeConst<PingOrder> auto& order) {
  archive.Enumerator(order.log_level, LogLevel::kOff, "level of the log");
}

void Fields(auto& archive, MaybeConst<ExecutorHello> auto& hello) {
  archive(hello.protocol, hello.version);
}

void Fields(auto& archive, MaybeConst<ExecutorReady> auto& ready) { archive(ready.status); }

void Check(FieldReader& reader, const LoadedModel& loaded) {
  reader.Require(!loaded.status.ok() || loaded.info, "a model that was loaded is not described");
}

void Fields(auto& archive, MaybeConst<LoadedModel> auto& loaded) {
  archive(loaded.model, loaded.status, loaded.info);
  Check(archive, loaded);
}

void Fields(auto& /*archive*/, MaybeConst<ExecutorAlive> auto& /*alive*/) {}

namespace {

template <typename Message>
std::string Written(const Message& message) {
  FieldWriter writer;
  writer(message);
  return writer.header();
}

template <typename Message>
absl::StatusOr<Message> ReadMessage(std::string_view header) {
  FieldReader reader(header);
  Message message;
  reader(message);
  MILLRACE_RETURN_IF_ERROR(reader.End());
  return message;
}

}  // namespace

std::string WriteControl(const ToExecutor& message) { return Written(message); }
std::string WriteControl(const FromExecutor& message) { return Written(message); }
absl::StatusOr<ToExecutor> ReadToExecutor(std::string_view header) {
  return ReadMessage<ToExecutor>(header);
}
absl::StatusOr<FromExecutor> ReadFromExecutor(std::string_view header) {
  return ReadMessage<FromExecutor>(header);
}

}  // namespace millrace::server
