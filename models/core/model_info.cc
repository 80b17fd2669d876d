#include "models/core/model_info.h"

namespace millrace::models {

std::string_view ToString(Task task) {
  switch (task) {
    case Task::kInfer:
      return "infer";
    case Task::kTranslation:
      return "translation";
    case Task::kSynthesis:
      return "synthesis";
  }
  return "unknown";
}

}  // namespace millrace::models
