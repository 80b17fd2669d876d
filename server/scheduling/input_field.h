#pragma once

#include <string_view>

#include "models/core/model_info.h"

namespace millrace::server {

// Returns the name of the input in requests of this kind.
inline std::string_view InputField(models::Task task) {
  switch (task) {
    case models::Task::kTranslation:
      return "texts";
    case models::Task::kSynthesis:
      return "text";
    case models::Task::kInfer:
      break;
  }
  return "inputs";
}

}  // namespace millrace::server
