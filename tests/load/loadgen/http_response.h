#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::loadgen {

// Reads an answer of HTTP/1.1 from the pieces in which it comes: a body of a Content-Length or in
// chunks, as the servers under test send it. For one thread.
class HttpResponse {
 public:
  // Takes what came next; nothing may come behind the answer. False: it is malformed or has another
  // form.
  bool Feed(std::string_view bytes);
  bool done() const { return stage_ == Stage::kDone; }

  // These are known once it is done.
  int status() const { return status_; }
  const std::string& body() const { return body_; }
  // The bytes of JSON before a tensor's binary data; all of the body without such data.
  size_t json_bytes() const { return json_bytes_ == kAll ? body_.size() : json_bytes_; }

  // Begins with the next answer.
  void Reset();

 private:
  enum class Stage : uint8_t { kHead, kLength, kChunkSize, kChunk, kTrailer, kDone };
  static constexpr size_t kAll = SIZE_MAX;

  bool TakeHead();
  // Takes the next line from `bytes`, without its end. False: it has not all come.
  bool TakeLine(std::string_view& bytes);

  Stage stage_ = Stage::kHead;
  std::string head_;
  std::string line_;
  std::string body_;
  size_t left_ = 0;  // left of the body, or of the chunk with the end of its line
  int status_ = 0;
  size_t json_bytes_ = kAll;
};

}  // namespace millrace::loadgen
