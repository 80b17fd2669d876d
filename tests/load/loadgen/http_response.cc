#include "tests/load/loadgen/http_response.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/match.h"

namespace millrace::loadgen {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";
constexpr std::string_view kEndOfLine = "\r\n";

bool ToNumber(std::string_view text, int base, size_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end != text.data();
}

// The value of a line of the head, if it is that header; else empty.
std::string_view ValueOf(std::string_view line, std::string_view name) {
  if (line.size() <= name.size() || line[name.size()] != ':' ||
      !absl::EqualsIgnoreCase({line.data(), name.size()}, {name.data(), name.size()})) {
    return {};
  }
  line.remove_prefix(name.size() + 1);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

}  // namespace

void HttpResponse::Reset() {
  stage_ = Stage::kHead;
  head_.clear();
  line_.clear();
  body_.clear();
  left_ = 0;
  status_ = 0;
  json_bytes_ = kAll;
}

bool HttpResponse::TakeHead() {
  std::string_view rest = head_;
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  size_t status = 0;
  if (!rest.starts_with(kVersion) || !ToNumber(rest.substr(kVersion.size()), 10, status))
    return false;
  status_ = static_cast<int>(status);
  bool has_length = false;
  bool chunked = false;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find(kEndOfLine));
    rest.remove_prefix(std::min(line.size() + kEndOfLine.size(), rest.size()));
    if (const auto length = ValueOf(line, "Content-Length"); !length.empty()) {
      if (!ToNumber(length, 10, left_)) return false;
      has_length = true;
    } else if (ValueOf(line, "Transfer-Encoding") == "chunked") {
      chunked = true;
    } else if (const auto json = ValueOf(line, "Inference-Header-Content-Length"); !json.empty()) {
      if (!ToNumber(json, 10, json_bytes_)) return false;
    }
  }
  if (has_length == chunked) return false;
  stage_ = chunked ? Stage::kChunkSize : left_ == 0 ? Stage::kDone : Stage::kLength;
  return true;
}

bool HttpResponse::TakeLine(std::string_view& bytes) {
  const size_t end = bytes.find('\n');
  const size_t taken = end == bytes.npos ? bytes.size() : end + 1;
  line_ += bytes.substr(0, taken);
  bytes.remove_prefix(taken);
  if (end == bytes.npos) return false;
  while (line_.ends_with('\n') || line_.ends_with('\r')) line_.pop_back();
  return true;
}

bool HttpResponse::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    switch (stage_) {
      case Stage::kHead: {
        const size_t before = head_.size();
        head_ += bytes;
        const size_t end = head_.find(kEndOfHead, before - std::min(before, kEndOfHead.size() - 1));
        if (end == head_.npos) return true;
        bytes.remove_prefix(end + kEndOfHead.size() - before);
        head_.resize(end);
        if (!TakeHead()) return false;
        break;
      }
      case Stage::kLength:
      case Stage::kChunk: {
        const size_t taken = std::min(bytes.size(), left_);
        body_ += bytes.substr(0, taken);
        bytes.remove_prefix(taken);
        left_ -= taken;
        if (left_ != 0) break;
        if (stage_ == Stage::kLength) {
          stage_ = Stage::kDone;
        } else {
          body_.resize(body_.size() - kEndOfLine.size());
          stage_ = Stage::kChunkSize;
        }
        break;
      }
      case Stage::kChunkSize: {
        if (!TakeLine(bytes)) break;
        size_t size = 0;
        if (!ToNumber(line_, 16, size)) return false;
        line_.clear();
        left_ = size + kEndOfLine.size();
        stage_ = size == 0 ? Stage::kTrailer : Stage::kChunk;
        break;
      }
      case Stage::kTrailer:
        if (!TakeLine(bytes)) break;
        if (line_.empty()) stage_ = Stage::kDone;
        line_.clear();
        break;
      case Stage::kDone:
        return false;
    }
  }
  return true;
}

}  // namespace millrace::loadgen
