#include "server/http/request_head.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"

namespace millrace {
namespace {

// The empty line, with the end of the line before it; the other one is that of clients that end
// lines without CR, and are told so.
constexpr std::string_view kEnds[] = {"\n\r\n", "\n\n"};

// Headers that have one value: of several, a proxy and this server could heed different ones.
constexpr std::string_view kOfOneValue[] = {"Authorization",
                                            "Content-Encoding",
                                            "Content-Type",
                                            "Inference-Header-Content-Length",
                                            "Origin",
                                            "X-Api-Key",
                                            "X-Priority",
                                            "xi-api-key",
                                            "Sec-WebSocket-Key",
                                            "Sec-WebSocket-Version"};

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// Returns the n-th word of the request line.
std::string_view WordOf(std::string_view head, int n) {
  std::string_view line = head.substr(0, head.find_first_of("\r\n"));
  for (; n > 0; --n) line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
  return line.substr(0, line.find(' '));
}

absl::Status Malformed(std::string_view what) {
  return InvalidArgument("malformed request: ", what);
}

// Takes the next line off the head, without its end. A line that a bare LF ends, or that holds
// another CR, is not one.
std::optional<std::string_view> TakeLine(std::string_view& head) {
  const size_t end = head.find('\n');
  if (end == head.npos || end == 0 || head[end - 1] != '\r') return std::nullopt;
  const std::string_view line = head.substr(0, end - 1);
  head.remove_prefix(end + 1);
  if (line.find('\r') != line.npos) return std::nullopt;
  return line;
}

bool IsTokenChar(unsigned char c) {
  return absl::ascii_isalnum(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsTokenChar);
}

bool IsVersion(std::string_view text) {
  return text.size() == 8 && text.starts_with("HTTP/") && absl::ascii_isdigit(text[5]) &&
         text[6] == '.' && absl::ascii_isdigit(text[7]);
}

bool IsControl(unsigned char c) { return c < 0x20 || c == 0x7f; }

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

// A host with or without a port, as a Host header may have it; it may be empty.
bool IsHost(std::string_view host) {
  constexpr std::string_view kAllowed = "-._~!$&'()*+;=%";
  const auto is_of_name = [=](unsigned char c) {
    return absl::ascii_isalnum(c) || kAllowed.find(static_cast<char>(c)) != kAllowed.npos;
  };
  const bool in_brackets = host.starts_with('[');  // an address of IPv6
  const size_t end = in_brackets ? host.find(']') : std::min(host.find(':'), host.size());
  if (end == host.npos) return false;
  const std::string_view name = host.substr(in_brackets, end - in_brackets);
  std::string_view port = host.substr(end + in_brackets);
  if (!std::ranges::all_of(
          name, [&](unsigned char c) { return is_of_name(c) || (in_brackets && c == ':'); }))
    return false;
  if (port.empty() || port == ":") return true;
  uint32_t number = 0;
  return port[0] == ':' && std::ranges::all_of(port.substr(1), absl::ascii_isdigit) &&
         absl::SimpleAtoi(View(port.substr(1)), &number) && number <= 65535;
}

// Finds headers of one value that have another one in a further line.
class ValuesOnce {
 public:
  // Returns false if the header had another value before. The value must outlive this.
  bool Add(std::string_view name, std::string_view value) {
    for (size_t i = 0; i < std::size(kOfOneValue); ++i) {
      if (!absl::EqualsIgnoreCase(View(name), View(kOfOneValue[i]))) continue;
      const std::string_view first = values_[i].value_or(value);
      values_[i] = first;
      return value == first;
    }
    return true;
  }

 private:
  std::optional<std::string_view> values_[std::size(kOfOneValue)];
};

// Reads a target into the head: a path, a whole URL, or "*". Returns the host of a URL in `host`.
absl::Status ParseTarget(std::string_view target, RequestHead& head,
                         std::optional<std::string>& host) {
  if (target.empty() || std::ranges::any_of(target, IsControl))
    return Malformed("a target without blanks and control characters is needed");
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!absl::StartsWithIgnoreCase(View(target), View(scheme))) continue;
    target.remove_prefix(scheme.size());
    const size_t end = std::min(target.find_first_of("/?#"), target.size());
    host = target.substr(0, end);
    if (host->empty() || !IsHost(*host)) return Malformed("the target names no host");
    target.remove_prefix(end);
    break;
  }
  target = target.substr(0, target.find('#'));
  const size_t query = target.find('?');
  head.path = target.substr(0, query);
  if (query != target.npos) head.query = target.substr(query + 1);
  if (host && head.path.empty()) head.path = "/";
  if (head.path.empty() || (head.path[0] != '/' && !(head.path == "*" && head.method == "OPTIONS")))
    return Malformed(StrCat("the target is neither a path nor a URL of HTTP: ", Shown(head.path)));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RequestHead> ParseRequestHead(std::string_view bytes) {
  RequestHead head;
  std::optional<std::string_view> line = TakeLine(bytes);
  if (!line) return Malformed("each line must end with CR LF");
  const size_t first = line->find(' ');
  const size_t last = line->rfind(' ');
  if (first == line->npos || first == last)
    return Malformed("the first line is not METHOD TARGET HTTP/1.1");
  head.method = line->substr(0, first);
  const std::string_view target = line->substr(first + 1, last - first - 1);
  const std::string_view version = line->substr(last + 1);
  if (!IsToken(head.method))
    return Malformed(StrCat("the method is not a name: ", Shown(head.method)));
  if (target.find(' ') != target.npos) return Malformed("a target must not have blanks");
  if (!IsVersion(version))
    return Malformed(StrCat("the version is not HTTP/1.1 but ", Shown(version)));
  if (version[5] != '1') {
    return absl::UnimplementedError(
        StrCat(View(version), " is not served here, HTTP/1.1 is; gRPC has an address of its own"));
  }
  head.is_http_1_0 = version == "HTTP/1.0";
  std::optional<std::string> host;
  MILLRACE_RETURN_IF_ERROR(ParseTarget(target, head, host));
  int hosts = 0;
  ValuesOnce values;
  for (;;) {
    line = TakeLine(bytes);
    if (!line) return Malformed("each line must end with CR LF");
    if (line->empty()) break;
    if (IsBlank(line->front())) return Malformed("a header must not be continued on another line");
    const size_t colon = line->find(':');
    if (!IsFieldLine(*line)) {
      // Its value may be a secret.
      return Malformed(StrCat("a header must be NAME: VALUE, without control characters, unlike ",
                              Shown(line->substr(0, colon))));
    }
    std::string name(line->substr(0, colon));
    std::string value(Trim(line->substr(colon + 1)));
    if (!values.Add(name, Trim(line->substr(colon + 1))))
      return Malformed(StrCat(name, " is given twice, with different values"));
    if (absl::EqualsIgnoreCase(name, "Host")) {
      ++hosts;
      if (!IsHost(value))
        return Malformed(StrCat("Host: ", Shown(value), " is not a host with or without a port"));
      if (host) value = *host;
    }
    head.headers.emplace_back(std::move(name), std::move(value));
  }
  if (hosts > 1 || (hosts == 0 && !head.is_http_1_0))
    return Malformed(hosts > 1 ? "Host may be given once" : "HTTP/1.1 needs a Host");
  return head;
}

bool IsFieldLine(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == line.npos || !IsToken(line.substr(0, colon))) return false;
  return std::ranges::none_of(line.substr(colon + 1),
                              [](unsigned char c) { return IsControl(c) && c != '\t'; });
}

bool HasToken(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (absl::EqualsIgnoreCase(View(Trim(list.substr(0, end))), View(token))) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

void DropEmptyLines(std::string& received) {
  size_t size = 0;
  while (std::string_view(received).substr(size).starts_with("\r\n")) size += 2;
  received.erase(0, size);
}

bool MayBeginRequest(std::string_view received) {
  const size_t end = received.find('\n');
  if (end != received.npos) {
    const std::string_view line = received.substr(0, end);
    if (line.find(' ') == line.rfind(' ')) return false;
  }
  return received.empty() || received == "\r" || IsTokenChar(received.front());
}

size_t HeadSize(std::string_view bytes, size_t searched) {
  size_t first = bytes.npos;
  for (const std::string_view end : kEnds) {
    const size_t at = bytes.find(end, searched - std::min(searched, end.size() - 1));
    if (at != bytes.npos) first = std::min(first, at + end.size());
  }
  return first == bytes.npos ? 0 : first;
}

std::string_view MethodOf(std::string_view head) { return WordOf(head, 0); }

std::string_view PathOf(std::string_view head) {
  const std::string_view target = WordOf(head, 1);
  return target.substr(0, target.find_first_of("?#"));
}

}  // namespace millrace
