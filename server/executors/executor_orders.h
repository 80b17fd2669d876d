#pragma once

#include <cstdint>
#include <string>

#include "millrace/executor/v1/executor.pb.h"
#include "mps_runtime/stream.h"

// The orders that the front gives to executors.
namespace millrace::server {

inline executor::v1::ToExecutor LoadOrder(uint64_t model, const std::string& name,
                                          int64_t version) {
  executor::v1::ToExecutor order;
  order.mutable_load()->set_model(model);
  order.mutable_load()->set_name(name);
  order.mutable_load()->set_version(version);
  return order;
}

inline executor::v1::ToExecutor UnloadOrder(uint64_t model) {
  executor::v1::ToExecutor order;
  order.mutable_unload()->set_model(model);
  return order;
}

// Has an executor compute on the processor. Settings of a device are not those of the processor.
inline void FallBackToCpu(executor::v1::Configure& settings) {
  settings.set_device(static_cast<int>(runtime::DeviceType::kCpu));
  settings.clear_mode();
  settings.clear_max_in_flight();
  settings.clear_accept_unsafe_concurrency();
}

}  // namespace millrace::server
