#pragma once

#include <string_view>

#include "models/core/model_info.h"

namespace millrace::server {

// Returns the name of the input in requests of this kind.
inline std::string_view InputField(models::Task task) {
  if (task == models::Task::kTranslation) return "texts";
  return task == models::Task::kSynthesis ? "text" : "inputs";
}

}  // namespace millrace::server
