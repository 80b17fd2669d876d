#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "models/core/tensor.h"

namespace millrace::server {

// A value of JSON that is neither an object nor an array; the first is null.
using JsonScalar = std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string_view>;

// Returns the value as an error message shows it.
std::string ScalarText(const JsonScalar& value);

// Makes a tensor's data of its elements in JSON, one event of a parser after the other: they come
// flat in row-major order, or nested as the shape says. FP16 and BF16 have no form in JSON. Errors
// are INVALID_ARGUMENT.
class JsonElements {
 public:
  // The tensor's type and shape are set, and it must outlive this. elements: how many the shape
  // needs. max_elements: how many can come at all, for what is reserved. where: the name of the
  // data in errors.
  JsonElements(models::Tensor& tensor, int64_t elements, size_t max_elements, std::string where);

  // An array begins, the data's own first.
  absl::Status Open();
  absl::Status Add(const JsonScalar& value);
  // An array ends. done: it was the data's own.
  absl::Status Close(bool& done);

 private:
  absl::Status CheckPlace() const;

  models::Tensor& tensor_;
  const int64_t elements_;
  const std::string where_;
  bool nested_ = false;
  int64_t added_ = 0;
  std::vector<int64_t> sizes_;  // the sizes of the open arrays, so far
};

// Appends the elements as one flat array of JSON. InvalidArgument where JSON has no form for them,
// with `where` as their name.
absl::Status AppendAsJson(const models::Tensor& tensor, std::string_view where, std::string& json);

}  // namespace millrace::server
