#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace {

// Decodes a body in chunks (RFC 9112, 7.1) as its bytes arrive, strictly: what another reader could
// take for another body is an error. Extensions and trailers are checked and dropped. For one
// thread.
class ChunkedBody {
 public:
  // max_bytes: of the decoded body.
  explicit ChunkedBody(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Takes the next bytes and appends what they hold of the body. Returns how many it took, which
  // are all unless the body ends or is refused among them.
  size_t Decode(std::string_view bytes, std::string& body);

  // Returns true once the last chunk and the trailers have come.
  bool done() const { return state_ == State::kDone; }
  // Returns why the body is refused, as an HTTP status; 0: it is not.
  int refusal() const { return refusal_; }

 private:
  enum class State : uint8_t { kSize, kData, kDataEnd, kTrailer, kDone, kRefused };

  // Takes a byte of a line. Returns true at the end of the line, which then stands in line_.
  bool TakeLine(char byte);
  void EndSize();
  void EndTrailer();
  void Refuse(int status);

  const size_t max_bytes_;
  State state_ = State::kSize;
  int refusal_ = 0;
  size_t decoded_ = 0;        // the size of the body, with the chunk that comes
  size_t chunk_left_ = 0;     // the rest of the chunk that comes
  size_t trailer_bytes_ = 0;  // the bytes of all trailers
  std::string line_;
};

}  // namespace millrace
