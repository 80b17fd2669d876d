#include "server/executors/delivered_outputs.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <variant>

#include "absl/hash/hash.h"

namespace millrace::server {
namespace {

size_t HashOf(const models::InferOutput& output) {
  size_t hash = output.outputs.size();
  for (const models::Tensor& tensor : output.outputs) hash = absl::HashOf(hash, tensor.data.size());
  return hash;
}

size_t HashOf(const models::TranslateOutput& output) {
  return absl::HashOf(output.text, output.text_finished, output.sentence_finished);
}

size_t HashOf(const models::SynthesizeOutput& output) {
  const std::string_view samples(reinterpret_cast<const char*>(output.samples.data()),
                                 output.samples.size() * sizeof(float));
  return absl::HashOf(samples, output.text, output.sentence_index, output.sentence_finished);
}

size_t ChannelOf(const models::Output& output) {
  const auto* translation = std::get_if<models::TranslateOutput>(&output);
  return translation == nullptr ? 0 : translation->text_index;
}

}  // namespace

void DeliveredOutputs::BeginReplay() {
  for (Channel& channel : channels_) {
    channel.seen = 0;
    channel.seen_hash = 0;
  }
}

DeliveredOutputs::Verdict DeliveredOutputs::Take(const models::Output& output) {
  const size_t number = ChannelOf(output);
  if (number >= channels_.size()) channels_.resize(number + 1);
  Channel& channel = channels_[number];
  const size_t hash = std::visit([](const auto& of_task) { return HashOf(of_task); }, output);
  channel.seen_hash = absl::HashOf(channel.seen_hash, hash);
  ++channel.seen;
  if (channel.seen > channel.delivered) {
    channel.delivered = channel.seen;
    channel.hash = channel.seen_hash;
    return Verdict::kDeliver;
  }
  if (channel.seen == channel.delivered && channel.seen_hash != channel.hash)
    return Verdict::kDiffers;
  return Verdict::kDrop;
}

bool DeliveredOutputs::caught_up() const {
  return std::ranges::all_of(
      channels_, [](const Channel& channel) { return channel.seen >= channel.delivered; });
}

}  // namespace millrace::server
