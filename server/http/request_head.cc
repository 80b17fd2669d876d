#include "server/http/request_head.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "models/core/strings.h"

namespace millrace {
namespace {

// The empty line, with the end of the line before it.
constexpr std::string_view kEnd = "\n\r\n";

// Returns true if the line continues the one before, as headers once could be written.
bool IsContinuation(std::string_view line) { return line.front() == ' ' || line.front() == '\t'; }

// Returns the n-th word of the request line.
std::string_view WordOf(std::string_view head, int n) {
  std::string_view line = head.substr(0, head.find_first_of("\r\n"));
  for (; n > 0; --n) line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
  return line.substr(0, line.find(' '));
}

}  // namespace

size_t HeadSize(std::string_view bytes, size_t searched) {
  const size_t end = bytes.find(kEnd, searched - std::min(searched, kEnd.size() - 1));
  return end == bytes.npos ? 0 : end + kEnd.size();
}

std::string WithoutHeader(std::string_view head, std::string_view name) {
  std::string kept;
  kept.reserve(head.size());
  bool dropping = false;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, std::min(head.find('\n'), head.size() - 1) + 1);
    head.remove_prefix(line.size());
    if (!dropping || !IsContinuation(line)) {
      const std::string_view key = line.substr(0, line.find(':'));
      dropping = !kept.empty() && key.size() < line.size() &&
                 absl::EqualsIgnoreCase(View(key), View(name));
    }
    if (!dropping) kept += line;
  }
  return kept;
}

std::string_view MethodOf(std::string_view head) { return WordOf(head, 0); }

std::string_view PathOf(std::string_view head) {
  const std::string_view target = WordOf(head, 1);
  return target.substr(0, target.find_first_of("?#"));
}

}  // namespace millrace
