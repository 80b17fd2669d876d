#include "server/http2/message_guard.h"

#include <algorithm>
#include <utility>

namespace millrace::server {

int MessageGuard::Read(std::span<char> bytes, MessageBytes& kept) {
  if (!Charge(kPieceBytes, kept)) return -1;
  int begun = 0;
  size_t at = 0;
  while (at < bytes.size()) {
    if (refused_ && prefix_filled_ == kPrefixBytes) {
      const MessageRefusal::Bytes refusal = refusal_.Encode();
      // gRPC keeps also what follows, until the server has read the refusal; of a call's first
      // message, it does so at once.
      if (!is_first_ && !Charge(bytes.size() - at, kept)) return -1;
      for (; at < bytes.size() && refusal_written_ < refusal.size(); ++at)
        bytes[at] = static_cast<char>(refusal[refusal_written_++]);
      std::fill(bytes.begin() + static_cast<ptrdiff_t>(at), bytes.end(), '\0');
      return begun;
    }
    if (prefix_filled_ == kPrefixBytes) {
      const size_t taken = std::min<size_t>(left_, bytes.size() - at);
      left_ -= static_cast<uint32_t>(taken);
      at += taken;
      if (left_ == 0) Finish();
      continue;
    }
    if (prefix_filled_ == 0) ++begun;
    if (!ReadPrefix(bytes, at, kept)) return -1;
    ++at;
    if (prefix_filled_ == kPrefixBytes && left_ == 0 && !refused_) Finish();
  }
  return begun;
}

void MessageGuard::Finish() {
  current_ = 0;
  prefix_filled_ = 0;
  is_first_ = false;
}

void MessageGuard::OnRead(uint64_t bytes, MessageBytes& kept) {
  bytes = std::min(bytes, held_ - current_);
  held_ -= bytes;
  kept.GiveBack(bytes);
}

void MessageGuard::End(MessageBytes& kept) {
  current_ = 0;
  kept.GiveBack(std::exchange(held_, 0));
}

bool MessageGuard::Charge(uint64_t bytes, MessageBytes& kept) {
  held_ += bytes;
  current_ += bytes;
  return kept.Charge(bytes, shared());
}

MessageBytes::Shared MessageGuard::shared() const {
  const bool is_large = prefix_filled_ == kPrefixBytes && size_ >= kLarge;
  if (is_large) return MessageBytes::Shared::kNotOfCalls;
  return is_first_ ? MessageBytes::Shared::kAll : MessageBytes::Shared::kFew;
}

bool MessageGuard::ReadPrefix(std::span<char> bytes, size_t at, MessageBytes& kept) {
  const uint8_t position = prefix_filled_++;
  if (position == 0) {
    size_ = 0;
    compressed_ = bytes[at] != '\0';
    bytes[at] = '\0';
    return true;
  }
  const bool is_last = prefix_filled_ == kPrefixBytes;
  size_ |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[at]))
           << 8 * (kPrefixBytes - prefix_filled_);
  const auto refuse = [&](MessageRefusal::Reason reason) {
    refused_ = true;
    refusal_.reason = reason;
    // The bytes of the size that are still at hand; gRPC has those before them.
    const size_t filled = std::min<size_t>(at, prefix_filled_ - 2);
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at - filled), filled, '\0');
  };
  if (!refused_) {
    // The highest bytes come first, so gRPC never has a part of a size that is too large.
    if (size_ > kept.max_message()) {
      refuse(MessageRefusal::Reason::kTooLarge);
    } else if (is_last && compressed_ && size_ >= MessageRefusal::kBytes) {
      // gRPC would take the zeros in place of a large one for many empty messages.
      if (at + 1 < kPrefixBytes || size_ >= kLarge) return false;
      refuse(MessageRefusal::Reason::kCompressed);
    } else if (is_last) {
      if (kept.Take(size_, shared())) {
        held_ += size_;
        current_ += size_;
      } else if (size_ >= MessageRefusal::kBytes && at + 1 >= kPrefixBytes) {
        refuse(MessageRefusal::Reason::kTooManyAtOnce);
      } else if (size_ >= kLarge || !Charge(size_, kept)) {
        return false;
      }
    }
  }
  if (refused_) bytes[at] = is_last ? static_cast<char>(MessageRefusal::kBytes) : '\0';
  if (is_last) left_ = refusal_.size = size_;
  return true;
}

}  // namespace millrace::server
