#include "models/core/tensor.h"

#include <array>

namespace millrace::models {
namespace {

struct TypeName {
  std::string_view name;
  size_t size;
};

// Indexed by DataType.
constexpr std::array<TypeName, 14> kTypes = {{{"BOOL", 1},
                                              {"UINT8", 1},
                                              {"UINT16", 2},
                                              {"UINT32", 4},
                                              {"UINT64", 8},
                                              {"INT8", 1},
                                              {"INT16", 2},
                                              {"INT32", 4},
                                              {"INT64", 8},
                                              {"FP16", 2},
                                              {"BF16", 2},
                                              {"FP32", 4},
                                              {"FP64", 8},
                                              {"BYTES", 0}}};

}  // namespace

std::string_view ToString(DataType type) { return kTypes[static_cast<size_t>(type)].name; }

std::optional<DataType> ParseDataType(std::string_view name) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<DataType>(i);
  }
  return std::nullopt;
}

size_t ElementSize(DataType type) { return kTypes[static_cast<size_t>(type)].size; }

std::optional<int64_t> ElementCount(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  }
  return count;
}

}  // namespace millrace::models
