#include "models/kokoro/fused_albert.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <tuple>

namespace millrace::kokoro {
namespace {

constexpr int64_t kMostValues = 2048;  // speech::SplitProduct::FinishNorm takes so many in a row

speech::SplitProduct ProductOf(const KokoroRows& rows) {
  return {rows.linear().weight, rows.linear().bias};
}

// Joins the three products, and scales the queries for their products with the keys.
speech::SplitProduct AttentionOf(const FusedAlbert::Weights& weights, int64_t heads) {
  const KokoroLinear& query = weights.query.linear();
  const double scale =
      1 / std::sqrt(static_cast<double>(query.weight.size(0)) / static_cast<double>(heads));
  const KokoroLinear& key = weights.key.linear();
  const KokoroLinear& value = weights.value.linear();
  return {at::cat({query.weight * scale, key.weight, value.weight}),
          at::cat({query.bias * scale, key.bias, value.bias})};
}

}  // namespace

FusedAlbert::FusedAlbert(const Weights& weights, int64_t heads)
    : heads_(heads),
      epsilon_(weights.epsilon),
      attention_(AttentionOf(weights, heads)),
      mix_(ProductOf(weights.mix)),
      feed_1_(ProductOf(weights.feed_1)),
      feed_2_(ProductOf(weights.feed_2)),
      attention_norm_(weights.attention_norm),
      layer_norm_(weights.layer_norm) {}

std::optional<FusedAlbert> FusedAlbert::Make(const Weights& weights, int64_t heads) {
  const int64_t hidden = weights.mix.out_features();
  if (!speech::SplitProduct::SupportedFor(weights.attention_norm.weight) || hidden % 2 != 0 ||
      hidden > kMostValues || weights.feed_1.out_features() % 2 != 0)
    return std::nullopt;
  return FusedAlbert(weights, heads);
}

at::Tensor FusedAlbert::Run(const at::Tensor& x, const at::Tensor& barrier, int64_t layers) const {
  const int64_t batch = x.size(0);
  const int64_t time = x.size(1);
  const int64_t hidden = x.size(2);
  at::Tensor rows = x.reshape({batch * time, hidden});
  at::Tensor split = speech::SplitProduct::Split(rows);
  for (int64_t i = 0; i < layers; ++i) {
    const at::Tensor joined = attention_.Finish(attention_.Multiply(split))
                                  .view({batch, time, 3, heads_, hidden / heads_})
                                  .permute({2, 0, 3, 1, 4});
    at::Tensor scores = at::matmul(joined[0], joined[1].transpose(2, 3));
    if (barrier.defined()) scores.add_(barrier);
    const at::Tensor mixed = at::matmul(at::softmax(scores, -1), joined[2]).transpose(1, 2);
    std::tie(rows, split) = mix_.FinishNorm(
        mix_.Multiply(speech::SplitProduct::Split(mixed.reshape({batch * time, hidden}))), rows,
        attention_norm_.weight, attention_norm_.bias, epsilon_);
    const at::Tensor fed = feed_2_.Multiply(feed_1_.FinishGelu(feed_1_.Multiply(split)));
    std::tie(rows, split) =
        feed_2_.FinishNorm(fed, rows, layer_norm_.weight, layer_norm_.bias, epsilon_);
  }
  return rows.view({batch, time, hidden});
}

}  // namespace millrace::kokoro
