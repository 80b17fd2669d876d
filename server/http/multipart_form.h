#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "httplib.h"

namespace millrace {

// Reads a form with parts (RFC 7578, RFC 2046) as its bytes come; how they are cut makes no
// difference. Used by one thread.
class MultipartReader {
 public:
  static constexpr size_t kMaxParts = 1024;
  static constexpr size_t kMaxHeaderBytes = 8192;  // the headers of a part have no more

  struct Part {
    std::string name;       // empty if it has none
    std::string file_name;  // empty if it has none
  };
  // They are called for each part, and then for its bytes, in pieces.
  using OnPart = std::function<void(Part part)>;
  using OnBytes = std::function<void(std::string_view bytes)>;

  MultipartReader(std::string_view boundary, OnPart on_part, OnBytes on_bytes);

  // Returns InvalidArgument for what is no such form; nothing may follow then.
  absl::Status Take(std::string_view bytes);
  // Returns OK if the form is whole.
  absl::Status End() const;

 private:
  enum class State { kPreamble, kHeaders, kBytes, kEpilogue };

  // Each reads what there is in front of the buffer. Returns false if it needs more.
  bool TakeToDelimiter();
  absl::StatusOr<bool> TakeHeaders();
  absl::Status BeginPart(std::string_view headers);
  // Removes bytes from the front of the buffer, which are the part's if there is one.
  void Drop(size_t bytes);

  const std::string delimiter_;  // with the line end before it
  const OnPart on_part_;
  const OnBytes on_bytes_;
  State state_ = State::kPreamble;
  size_t parts_ = 0;
  // The bytes that are not yet read. A delimiter may be the first line: a line end is put before
  // it.
  std::string buffer_ = "\r\n";
};

// Returns true if the body of a request is such a form.
bool IsMultipartForm(const httplib::Request& request);
// Reads it. InvalidArgument: it is malformed. Nothing: it did not arrive, which the HTTP library
// has answered.
std::optional<absl::Status> ReadMultipartForm(const httplib::Request& request,
                                              const httplib::ContentReader& reader,
                                              MultipartReader::OnPart on_part,
                                              MultipartReader::OnBytes on_bytes);

}  // namespace millrace
