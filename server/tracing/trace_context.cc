#include "server/tracing/trace_context.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace millrace::tracing {
namespace {

constexpr size_t kLength = 55;  // version 00's: 2 + 32 + 16 + 2 digits and three dashes
constexpr size_t kMaxStateMembers = 32;

std::string_view Trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Returns the value of a digit, or -1. Capital letters are not allowed.
int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool ReadHex(std::string_view text, uint8_t* bytes) {
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = DigitOf(text[i]);
    const int low = DigitOf(text[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i / 2] = static_cast<uint8_t>(high << 4 | low);
  }
  return true;
}

// A key is "name" or "tenant@system", of which each part begins with a letter (a tenant with a
// digit too).
bool IsStateKey(std::string_view key) {
  const auto is_part = [](std::string_view part, size_t longest, bool may_begin_with_digit) {
    if (part.empty() || part.size() > longest) return false;
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!is_letter(part.front()) && !(may_begin_with_digit && is_digit(part.front()))) return false;
    return std::ranges::all_of(part, [&](char c) {
      return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '*' || c == '/';
    });
  };
  const size_t at = key.find('@');
  if (at == key.npos) return is_part(key, 256, false);
  return is_part(key.substr(0, at), 241, true) && is_part(key.substr(at + 1), 14, false);
}

bool IsStateValue(std::string_view value) {
  return !value.empty() && value.size() <= 256 && value.back() != ' ' &&
         std::ranges::all_of(value,
                             [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}

bool IsState(std::string_view state) {
  if (state.size() > kMaxStateBytes) return false;
  std::vector<std::string_view> keys;
  for (;;) {
    const size_t end = std::min(state.find(','), state.size());
    const std::string_view member = Trimmed(state.substr(0, end));
    if (!member.empty()) {  // empty members are allowed, and count for nothing
      const size_t equals = member.find('=');
      if (equals == member.npos || keys.size() == kMaxStateMembers) return false;
      const std::string_view key = member.substr(0, equals);
      if (!IsStateKey(key) || !IsStateValue(member.substr(equals + 1))) return false;
      if (std::ranges::find(keys, key) != keys.end()) return false;
      keys.push_back(key);
    }
    if (end == state.size()) return !keys.empty();
    state.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<TraceContext> ParseTraceparent(std::string_view traceparent,
                                             std::string_view tracestate) {
  const std::string_view text = Trimmed(traceparent);
  if (text.size() < kLength || text[2] != '-' || text[35] != '-' || text[52] != '-')
    return std::nullopt;
  uint8_t version = 0;
  TraceContext context;
  if (!ReadHex(text.substr(0, 2), &version) || version == 0xff ||
      !ReadHex(text.substr(3, 32), context.trace_id.data()) ||
      !ReadHex(text.substr(36, 16), context.span_id.data()) ||
      !ReadHex(text.substr(53, 2), &context.flags))
    return std::nullopt;
  // A later version may have more fields behind these.
  if (text.size() > kLength && (version == 0 || text[kLength] != '-')) return std::nullopt;
  if (!IsValid(context.trace_id) || !IsValid(context.span_id)) return std::nullopt;
  context.flags &= TraceContext::kSampled | TraceContext::kRandomId;
  if (IsState(tracestate)) context.state = Trimmed(tracestate);
  return context;
}

}  // namespace millrace::tracing
