#include "server/frontends/kserve/json_elements.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/text/unicode.h"
#include "nlohmann/json.hpp"
#include "server/frontends/kserve/element_type.h"
#include "server/frontends/kserve/infer_tensors.h"

namespace millrace::server {
namespace {

using models::DataType;
using models::Tensor;

// Returns false if the value is no element of this type.
template <typename Element>
bool Convert(const JsonScalar& value, Element& element) {
  return std::visit(
      [&element](auto found) {
        using Found = decltype(found);
        if constexpr (std::is_same_v<Element, bool> || std::is_same_v<Found, bool>) {
          if constexpr (!std::is_same_v<Element, Found>) return false;
        } else if constexpr (!std::is_arithmetic_v<Found>) {
          return false;
        } else if constexpr (std::is_floating_point_v<Element>) {
          // A number beyond the type's range has no defined conversion.
          if (std::abs(static_cast<double>(found)) > std::numeric_limits<Element>::max())
            return false;
        } else if constexpr (std::is_floating_point_v<Found>) {
          return false;
        } else {
          if (!std::in_range<Element>(found)) return false;
        }
        if constexpr (std::is_arithmetic_v<Found>) element = static_cast<Element>(found);
        return true;
      },
      value);
}

template <typename Number>
void AppendNumber(Number number, std::string& json) {
  char text[32];  // the longest double takes 24
  const auto end = std::to_chars(text, text + sizeof(text), number).ptr;
  json.append(text, end);
}

// Returns the index of an element that JSON has no form for, or -1.
template <typename Element>
int64_t AppendAll(const std::string& data, std::string& json) {
  const size_t count = data.size() / sizeof(Element);
  for (size_t i = 0; i < count; ++i) {
    if (i != 0) json += ',';
    if constexpr (std::is_same_v<Element, bool>) {
      json += data[i] != 0 ? "true" : "false";
    } else {
      Element element;
      std::memcpy(&element, data.data() + i * sizeof(Element), sizeof(Element));
      if constexpr (std::is_floating_point_v<Element>) {
        if (!std::isfinite(element)) return static_cast<int64_t>(i);
        // Readers take "-0" for a whole number, which has no sign then.
        if (element == 0 && std::signbit(element)) {
          json += "-0.0";
          continue;
        }
      }
      AppendNumber(element, json);
    }
  }
  return -1;
}

int64_t AppendStrings(std::string_view data, std::string& json) {
  size_t at = 0;
  for (int64_t i = 0; data.size() - at >= sizeof(uint32_t); ++i) {
    uint32_t size = 0;
    std::memcpy(&size, data.data() + at, sizeof(size));
    at += sizeof(size);
    const std::string_view element = data.substr(at, size);
    at += element.size();
    if (!models::IsValidUtf8(element)) return i;
    if (i != 0) json += ',';
    json += nlohmann::json(element).dump();
  }
  return -1;
}

}  // namespace

std::string ScalarText(const JsonScalar& value) {
  return std::visit(
      [](auto found) -> std::string {
        using Found = decltype(found);
        if constexpr (std::is_same_v<Found, std::monostate>) {
          return "null";
        } else if constexpr (std::is_same_v<Found, bool>) {
          return found ? "true" : "false";
        } else if constexpr (std::is_same_v<Found, std::string_view>) {
          return Shown(found);
        } else {
          std::string text;
          AppendNumber(found, text);
          return text;
        }
      },
      value);
}

JsonElements::JsonElements(Tensor& tensor, int64_t elements, size_t max_elements, std::string where)
    : tensor_(tensor), elements_(elements), where_(std::move(where)) {
  // The shape may promise more than ever comes.
  const size_t expected = std::min(static_cast<size_t>(elements), max_elements);
  const size_t size = models::ElementSize(tensor.type);
  tensor.data.reserve(expected * (size == 0 ? sizeof(uint32_t) : size));
}

absl::Status JsonElements::Open() {
  if (sizes_.empty()) {
    if (tensor_.type == DataType::kFp16 || tensor_.type == DataType::kBf16) {
      return InvalidArgument(where_, ": ", ToString(tensor_.type),
                             " has no form in JSON; send it as binary data");
    }
    sizes_.push_back(0);
    return absl::OkStatus();
  }
  if (sizes_.size() == 1 && sizes_.front() == 0) nested_ = true;
  if (!nested_ || sizes_.size() >= tensor_.shape.size()) {
    return InvalidArgument(where_, ": must be flat, or nested as the shape ",
                           ShapeText(tensor_.shape), " says");
  }
  MILLRACE_RETURN_IF_ERROR(CheckPlace());
  ++sizes_.back();
  sizes_.push_back(0);
  return absl::OkStatus();
}

absl::Status JsonElements::Add(const JsonScalar& value) {
  if (nested_ && sizes_.size() != tensor_.shape.size()) {
    return InvalidArgument(where_, ": must be flat, or nested as the shape ",
                           ShapeText(tensor_.shape), " says");
  }
  MILLRACE_RETURN_IF_ERROR(CheckPlace());
  bool taken = true;
  const bool sized = WithElement(tensor_.type, [&]<typename Element>(Element element) {
    taken = Convert(value, element);
    tensor_.data.append(reinterpret_cast<const char*>(&element), sizeof(element));
  });
  if (!sized) {
    const auto* const text = std::get_if<std::string_view>(&value);
    taken = text != nullptr;
    if (taken) AppendBytesElement(*text, tensor_.data);
  }
  if (!taken) {
    return InvalidArgument(where_, "[", added_, "]: must be ", ElementForm(tensor_.type), " for ",
                           ToString(tensor_.type), ", not ", ScalarText(value));
  }
  ++added_;
  ++sizes_.back();
  return absl::OkStatus();
}

absl::Status JsonElements::Close(bool& done) {
  const int64_t size = sizes_.back();
  const size_t depth = sizes_.size() - 1;
  if (nested_ && size != tensor_.shape[depth]) {
    return InvalidArgument(where_, ": an array has ", size, " elements where the shape ",
                           ShapeText(tensor_.shape), " needs ", tensor_.shape[depth]);
  }
  sizes_.pop_back();
  done = sizes_.empty();
  if (done && added_ != elements_) {
    return InvalidArgument(where_, ": has ", added_, " elements; shape ", ShapeText(tensor_.shape),
                           " needs ", elements_);
  }
  return absl::OkStatus();
}

// Returns an error where one more in the array would be too many.
absl::Status JsonElements::CheckPlace() const {
  const int64_t most = nested_ ? tensor_.shape[sizes_.size() - 1] : elements_;
  if (sizes_.back() < most) return absl::OkStatus();
  return InvalidArgument(where_, ": has more elements than the shape ", ShapeText(tensor_.shape),
                         " needs");
}

absl::Status AppendAsJson(const Tensor& tensor, std::string_view where, std::string& json) {
  int64_t without_form = -1;
  json += '[';
  if (tensor.type == DataType::kBytes) {
    without_form = AppendStrings(tensor.data, json);
  } else if (!WithElement(tensor.type, [&]<typename Element>(Element) {
               without_form = AppendAll<Element>(tensor.data, json);
             })) {
    return InvalidArgument(where, ": ", ToString(tensor.type),
                           " has no form in JSON; ask for it as binary data");
  }
  if (without_form >= 0) {
    return InvalidArgument(
        where, ": element ", without_form,
        tensor.type == DataType::kBytes ? " is not UTF-8" : " is not a finite number",
        ", which has no form in JSON; ask for it as binary data");
  }
  json += ']';
  return absl::OkStatus();
}

}  // namespace millrace::server
