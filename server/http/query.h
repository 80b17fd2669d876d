#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/http/form.h"

namespace millrace {

// The query of a request. It knows which of its parameters were read, so that the client can be
// told of those that have no effect. One thread at a time.
class Query {
 public:
  Query() = default;
  // text: the part of the target behind its first '?'.
  explicit Query(std::string_view text);

  bool empty() const { return parameters_.empty(); }

  // These read a parameter that may be given once. One that is absent, or has no value, leaves
  // `out` as it is. Errors are INVALID_ARGUMENT with its name, the value and what is allowed.
  absl::Status TakeText(std::string_view name, std::string& out);
  absl::Status TakeFlag(std::string_view name, bool& out);
  absl::Status TakeNumber(std::string_view name, uint64_t least, uint64_t most, uint64_t& out);

  // Reads a parameter that may be given several times; its values in order.
  std::vector<std::string> TakeValues(std::string_view name);
  // Reads all parameters, as the members of a form.
  FormMembers TakeAll();

  // Returns the names of the parameters that were not read, in order, each once.
  std::vector<std::string> Unread() const;

 private:
  struct Parameter {
    std::string name;
    std::string value;
    bool read = false;
  };
  std::vector<Parameter> parameters_;
};

}  // namespace millrace
