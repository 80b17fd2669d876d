#include "server/http2/message_bytes.h"

#include <algorithm>
#include <utility>

namespace millrace::server {

MessageBytes::MessageBytes(uint64_t max_message, FrameTotals& totals,
                           std::shared_ptr<ClientTotals> address)
    : max_message_(max_message),
      own_(std::max(max_message, kLeastMessage) + kBesideMessage),
      max_shared_(2 * std::max(max_message, kLeastMessage) + kSharedOfCalls),
      max_all_(kMessagesOfAll * std::max(max_message, kLeastMessage)),
      totals_(&totals),
      address_(std::move(address)) {}

// Returns how many shared bytes all connections together may have when one takes more of them.
uint64_t MessageBytes::Most(Shared shared) const {
  switch (shared) {
    case Shared::kAll:
      return max_shared_;
    case Shared::kNotOfCalls:
      return max_shared_ - kSharedOfCalls;
    case Shared::kFew:
      return kFewShared;
  }
  return 0;
}

bool MessageBytes::Reserve(uint64_t bytes, Shared shared) {
  if (left_) return false;
  const uint64_t wanted = (bytes + kStep - 1) / kStep * kStep;
  const uint64_t more = wanted - reserved_;
  const uint64_t more_shared = BeyondOwn(wanted) - BeyondOwn(reserved_);
  if (more_shared != 0 &&
      totals_->shared_message_bytes.fetch_add(more_shared) + more_shared > Most(shared)) {
    totals_->shared_message_bytes.fetch_sub(more_shared);
    return false;
  }
  const uint64_t all = totals_->message_bytes.fetch_add(more) + more;
  const uint64_t of_address = address_->message_bytes.fetch_add(more) + more;
  if (wanted > kStep && !IsFairShare(of_address, all, max_all_)) {
    totals_->shared_message_bytes.fetch_sub(more_shared);
    totals_->message_bytes.fetch_sub(more);
    address_->message_bytes.fetch_sub(more);
    return false;
  }
  reserved_ = wanted;
  return true;
}

void MessageBytes::Shrink() {
  if (left_) return;
  const uint64_t wanted = (bytes_ + kStep - 1) / kStep * kStep;
  const uint64_t less = reserved_ - wanted;
  totals_->shared_message_bytes.fetch_sub(BeyondOwn(reserved_) - BeyondOwn(wanted));
  totals_->message_bytes.fetch_sub(less);
  address_->message_bytes.fetch_sub(less);
  reserved_ = wanted;
}

void MessageBytes::Leave() {
  if (std::exchange(left_, true)) return;
  totals_->shared_message_bytes.fetch_sub(BeyondOwn(reserved_));
  totals_->message_bytes.fetch_sub(reserved_);
  address_->message_bytes.fetch_sub(reserved_);
  reserved_ = own_;
}

}  // namespace millrace::server
