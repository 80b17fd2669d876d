#include "server/http/chunked_body.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "server/http/request_head.h"

namespace millrace {
namespace {

// The longest line of a chunk's size with its extensions, and of all trailers.
constexpr size_t kMaxLineBytes = 1024;
constexpr size_t kMaxTrailerBytes = 8192;

bool IsHidden(unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; }

}  // namespace

size_t ChunkedBody::Decode(std::string_view bytes, std::string& body) {
  size_t taken = 0;
  while (taken < bytes.size() && state_ != State::kDone && state_ != State::kRefused) {
    if (state_ == State::kData) {
      const size_t count = std::min(chunk_left_, bytes.size() - taken);
      body.append(bytes.substr(taken, count));
      taken += count;
      chunk_left_ -= count;
      if (chunk_left_ == 0) state_ = State::kDataEnd;
    } else if (TakeLine(bytes[taken++])) {
      if (state_ == State::kSize) {
        EndSize();
      } else if (state_ == State::kTrailer) {
        EndTrailer();
      } else if (line_.empty()) {
        state_ = State::kSize;
      } else {
        Refuse(400);
      }
      line_.clear();
    }
  }
  return taken;
}

bool ChunkedBody::TakeLine(char byte) {
  const bool after_cr = !line_.empty() && line_.back() == '\r';
  if (after_cr != (byte == '\n')) {
    Refuse(400);
    return false;
  }
  if (byte == '\n') {
    line_.pop_back();
    return true;
  }
  line_ += byte;
  if (line_.size() > kMaxLineBytes) Refuse(400);
  return false;
}

void ChunkedBody::EndSize() {
  size_t size = 0;
  const char* const end = line_.data() + line_.size();
  const auto [rest, error] = std::from_chars(line_.data(), end, size, 16);
  if (error == std::errc::invalid_argument) return Refuse(400);
  std::string_view extensions(rest, static_cast<size_t>(end - rest));
  extensions.remove_prefix(std::min(extensions.find_first_not_of(" \t"), extensions.size()));
  // Blanks may stand before extensions and nowhere else.
  const bool well_formed = rest == end || (!extensions.empty() && extensions.front() == ';');
  if (!well_formed || std::ranges::any_of(extensions, IsHidden)) return Refuse(400);
  if (error == std::errc::result_out_of_range || size > max_bytes_ - decoded_) return Refuse(413);
  decoded_ += size;
  chunk_left_ = size;
  state_ = size == 0 ? State::kTrailer : State::kData;
}

void ChunkedBody::EndTrailer() {
  if (line_.empty()) {
    state_ = State::kDone;
    return;
  }
  trailer_bytes_ += line_.size();
  if (trailer_bytes_ > kMaxTrailerBytes || !IsFieldLine(line_)) Refuse(400);
}

void ChunkedBody::Refuse(int status) {
  refusal_ = status;
  state_ = State::kRefused;
}

}  // namespace millrace
