#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// Element types of KServe v2.
enum class DataType : uint8_t {
  kBool,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFp16,
  kBf16,
  kFp32,
  kFp64,
  kBytes
};

// Returns KServe's name: "BOOL", "UINT8" ... "FP32", "BYTES".
std::string_view ToString(DataType type);
std::optional<DataType> ParseDataType(std::string_view name);
// Returns the size of an element in bytes; 0 for kBytes, whose elements vary.
size_t ElementSize(DataType type);

// A tensor as plain data without libtorch, as it crosses the queue between a service and a worker.
struct Tensor {
  std::string name;
  DataType type = DataType::kFp32;
  std::vector<int64_t> shape;  // each >= 0
  std::string data;  // row-major, little-endian; BYTES: each element a uint32 length and its bytes
};

// Returns the product of the dimensions; nullopt when one is negative or the product overflows
// int64.
std::optional<int64_t> ElementCount(const std::vector<int64_t>& shape);

}  // namespace millrace::models
