#pragma once

#include <cstdint>

#include "models/core/tensor.h"

namespace millrace::server {

// Calls `use` with an element of a type whose elements have one size. Returns false for others and
// for those that JSON has no form for.
template <typename Use>
bool WithElement(models::DataType type, const Use& use) {
  using models::DataType;
  switch (type) {
    case DataType::kBool:
      return use(bool{}), true;
    case DataType::kUint8:
      return use(uint8_t{}), true;
    case DataType::kUint16:
      return use(uint16_t{}), true;
    case DataType::kUint32:
      return use(uint32_t{}), true;
    case DataType::kUint64:
      return use(uint64_t{}), true;
    case DataType::kInt8:
      return use(int8_t{}), true;
    case DataType::kInt16:
      return use(int16_t{}), true;
    case DataType::kInt32:
      return use(int32_t{}), true;
    case DataType::kInt64:
      return use(int64_t{}), true;
    case DataType::kFp32:
      return use(float{}), true;
    case DataType::kFp64:
      return use(double{}), true;
    case DataType::kFp16:
    case DataType::kBf16:
    case DataType::kBytes:
      return false;
  }
  return false;
}

}  // namespace millrace::server
