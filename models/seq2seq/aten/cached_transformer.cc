#include "models/seq2seq/aten/cached_transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/max.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "mps_runtime/base/log_sink.h"

namespace millrace::seq2seq {
namespace {

constexpr int64_t kNarrowestPath = 32, kNarrowestSource = 16;  // 16 unless shapes are few
// The most tokens of a batch of sources, padding included: this many keep a GPU busy.
constexpr size_t kMaxEncodedTokens = 4096;

DeviceKvCache MakeCache(const TransformerWeights& weights, size_t slots) {
  DeviceKvCache cache;
  for (size_t i = 0; i < weights.decoder.size(); ++i) {
    cache.push_back(
        at::zeros({static_cast<int64_t>(slots), 2 * weights.dim()}, weights.positions.options()));
  }
  // Waits until they are cleared on this thread's stream, because other streams use them.
  (void)cache.back().flatten().narrow(0, 0, 1).to(at::kCPU);
  return cache;
}

std::optional<FusedDecoder> Fuse(const TransformerWeights& weights) {
  std::string why_not;
  auto fused = FusedDecoder::Make(weights, why_not);
  if (!why_not.empty())
    SendToLog(LogSeverity::kWarning, "The decoder runs without its fused kernels: " + why_not);
  return fused;
}

// Makes it impossible to choose the tokens that CachedTransformer::Row::forced forbids.
void Forbid(const at::Tensor& forced, const at::Tensor& scores) {
  const at::Tensor forbids = forced.lt(-1);
  const at::Tensor tokens = at::where(forbids, -2 - forced, 0).unsqueeze(1);
  const at::Tensor allowed = scores.gather(1, tokens);
  scores.scatter_(
      1, tokens,
      allowed.masked_fill(forbids.unsqueeze(1), -std::numeric_limits<double>::infinity()));
}

void Write(const at::Tensor& cache, const at::Tensor& slots, const at::Tensor& values) {
  if (!cache.is_cuda()) {
    cache.index_copy_(0, slots, values);
    return;
  }
  // Copies 16 bytes at a time.
  cache.view(at::kComplexDouble).index_copy_(0, slots, values.view(at::kComplexDouble));
}

// Packs integers for the device into one buffer, because a copy of each tensor would cost more than
// its contents.
class Packer {
 public:
  explicit Packer(int64_t size)
      : packed_(at::empty({size}, at::kLong)), next_(packed_.mutable_data_ptr<int64_t>()) {}

  void Add(int64_t value) { *next_++ = value; }
  // Adds the values, then `padding` up to width.
  void AddRow(std::span<const int32_t> values, int64_t width, int64_t padding) {
    int64_t* const end = next_ + width;
    next_ = std::copy(values.begin(), values.end(), next_);
    std::fill(next_, end, padding);
    next_ = end;
  }
  const at::Tensor& packed() const { return packed_; }

 private:
  const at::Tensor packed_;
  int64_t* next_;
};

// Splits the packed buffer on the device.
class Unpacker {
 public:
  explicit Unpacker(const at::Tensor& packed) : packed_(packed) {}

  at::Tensor Next(int64_t size) {
    at_ += size;
    return packed_.narrow(0, at_ - size, size);
  }

 private:
  const at::Tensor& packed_;
  int64_t at_ = 0;
};

}  // namespace

// The padded shape of a step.
struct CachedTransformer::Shape {
  Shape(const CachedTransformer& of, std::span<const Row> given, int64_t tokens)
      : rows(of.RowsBucket(given.size())), tokens(tokens) {
    size_t longest_path = 1;
    size_t longest_source = 1;
    for (const Row& row : given) {
      longest_path = std::max(longest_path, row.position + static_cast<size_t>(tokens));
      longest_source = std::max(longest_source, row.source.size());
    }
    path = of.WidthBucket(longest_path, kNarrowestPath);
    source = of.WidthBucket(longest_source, kNarrowestPath);
    if (of.few_shapes_) path = source = std::max(path, source);
  }

  int64_t packed_size() const { return rows * (3 + tokens + path + source); }
  runtime::GraphKey Key(std::string entry_point, const CachedTransformer& of) const {
    return {.model = of.model_,
            .entry_point =
                std::move(entry_point) + ' ' + std::to_string(rows) + ' ' + std::to_string(tokens),
            .shape_bucket = (path << 32) + source,
            .instance = of.instance_};
  }

  int64_t rows;
  int64_t tokens;  // the tokens of each row
  int64_t path;    // slots of each row
  int64_t source;  // slots of each row
};

CachedTransformer::CachedTransformer(TransformerWeights weights, size_t slots, std::string model,
                                     bool few_shapes)
    : model_(std::move(model)),
      few_shapes_(few_shapes),
      longest_(static_cast<size_t>(weights.positions.size(0))),
      transformer_(std::move(weights)),
      fused_(Fuse(transformer_.weights())),
      cache_(MakeCache(transformer_.weights(), slots)),
      slots_(std::make_shared<KvSlotPool>(slots)) {}

// Buckets are powers of two, with one step between them unless few_shapes. Attention kernels need
// multiples of 8.
int64_t CachedTransformer::WidthBucket(size_t tokens, int64_t narrowest) const {
  const auto power = static_cast<int64_t>(std::bit_ceil(tokens));
  if (const int64_t least = few_shapes_ ? kNarrowestPath : narrowest; power <= least) return least;
  return !few_shapes_ && static_cast<int64_t>(tokens) <= power / 4 * 3 ? power / 4 * 3 : power;
}

// Buckets are powers of two, or of four with few_shapes.
int64_t CachedTransformer::RowsBucket(size_t rows) const {
  const auto power = std::bit_ceil(rows);
  const bool is_power_of_four = std::countr_zero(power) % 2 == 0;
  return static_cast<int64_t>(few_shapes_ && !is_power_of_four ? 2 * power : power);
}

void CachedTransformer::Encode(std::span<const Source> sources,
                               runtime::WorkerContext& context) const {
  std::vector<Source> sorted(sources.begin(), sources.end());
  std::ranges::stable_sort(
      sorted, [](const Source& a, const Source& b) { return a.tokens.size() > b.tokens.size(); });
  for (size_t first = 0; first < sorted.size();) {
    const int64_t width = WidthBucket(sorted[first].tokens.size(), kNarrowestSource);
    const size_t together = std::clamp(
        std::bit_floor(kMaxEncodedTokens / static_cast<size_t>(width)), size_t{1}, kMaxRows);
    const size_t count = std::min(together, sorted.size() - first);
    EncodeTogether(std::span(sorted).subspan(first, count), width, context);
    first += count;
  }
}

void CachedTransformer::EncodeTogether(std::span<const Source> sources, int64_t width,
                                       runtime::WorkerContext& context) const {
  const int64_t rows = RowsBucket(sources.size());
  Packer packer(rows * (1 + 2 * width));
  for (int64_t row = 0; row < rows; ++row) {
    const auto index = static_cast<size_t>(row);
    packer.Add(index < sources.size() ? static_cast<int64_t>(sources[index].tokens.size()) : 1);
  }
  const auto add_rows = [&](std::span<const int32_t> Source::*part, int64_t padding) {
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      packer.AddRow(row < sources.size() ? sources[row].*part : std::span<const int32_t>(), width,
                    padding);
    }
  };
  add_rows(&Source::tokens, 0);
  add_rows(&Source::slots, KvSlotPool::kWaste);
  const runtime::GraphKey key{.model = model_,
                              .entry_point = "encode " + std::to_string(rows),
                              .shape_bucket = width,
                              .instance = instance_};
  runtime::RunCachedOnHost(
      context, key, {packer.packed()}, [&](const std::vector<at::Tensor>& given) {
        Unpacker unpacker(given[0]);
        const at::Tensor lengths = unpacker.Next(rows);
        const at::Tensor memory = transformer_.Encode(unpacker.Next(rows * width), lengths);
        const at::Tensor slots = unpacker.Next(rows * width);
        for (size_t i = 0; i < cache_.size(); ++i)
          Write(cache_[i], slots, memory[static_cast<int64_t>(i)]);
        return std::vector<at::Tensor>();
      });
}

at::Tensor CachedTransformer::Pack(std::span<const Row> rows, const Shape& shape) const {
  Packer packer(shape.packed_size());
  // Rows that pad the shape: a token at the first position, written to kWaste.
  static constexpr Row kPadding;
  const auto each = [&](const auto& add) {
    for (size_t i = 0; i < static_cast<size_t>(shape.rows); ++i)
      add(i < rows.size() ? rows[i] : kPadding);
  };
  each([&](const Row& row) { packer.Add(row.token); });
  each([&](const Row& row) { packer.Add(static_cast<int64_t>(row.position)); });
  each([&](const Row& row) { packer.Add(std::max<int64_t>(1, std::ssize(row.source))); });
  for (size_t token = 0; token < static_cast<size_t>(shape.tokens); ++token) {
    each([&](const Row& row) { packer.Add(token < row.forced.size() ? row.forced[token] : -1); });
  }
  each([&](const Row& row) {
    const size_t used = std::min(row.path.size(), row.position + static_cast<size_t>(shape.tokens));
    packer.AddRow(row.path.first(used), static_cast<int64_t>(used), KvSlotPool::kZeros);
    // Tokens beyond the greatest length have no slot.
    const auto rest =
        static_cast<int64_t>(row.position) + shape.tokens - static_cast<int64_t>(used);
    packer.AddRow({}, rest, KvSlotPool::kWaste);
    packer.AddRow({}, shape.path - rest - static_cast<int64_t>(used), KvSlotPool::kZeros);
  });
  each([&](const Row& row) { packer.AddRow(row.source, shape.source, KvSlotPool::kZeros); });
  return packer.packed();
}

std::vector<at::Tensor> CachedTransformer::Run(const at::Tensor& packed, const Shape& shape,
                                               Wanted wanted) const {
  // The rows of an alignment read slots that others of them write.
  if (fused_ && wanted != Wanted::kAlignment) return RunFused(packed, shape, wanted);
  Unpacker unpacker(packed);
  DecoderStepInput input;
  input.tokens = unpacker.Next(shape.rows);
  const at::Tensor positions = unpacker.Next(shape.rows);
  input.source_lengths = unpacker.Next(shape.rows);
  const at::Tensor forced = unpacker.Next(shape.tokens * shape.rows).view({shape.tokens, -1});
  const at::Tensor path = unpacker.Next(shape.rows * shape.path).view({shape.rows, -1});
  input.sources = unpacker.Next(shape.rows * shape.source);
  const at::Tensor numbers = at::arange(shape.path, packed.options());
  std::vector<at::Tensor> chosen;
  for (int64_t i = 0; i < shape.tokens; ++i) {
    const at::Tensor places = positions + i;
    input.positions = places.clamp_max(static_cast<int64_t>(longest_) - 1);
    input.slots = path.gather(1, places.unsqueeze(1)).squeeze(1);
    // Slots of later tokens hold values of other sentences, which may not be finite.
    input.path = path.masked_fill(numbers.gt(places.unsqueeze(1)), KvSlotPool::kZeros).flatten();
    if (wanted == Wanted::kAlignment) return {transformer_.Align(input, cache_)};
    const at::Tensor scores = transformer_.Step(input, cache_);
    if (wanted == Wanted::kScores) return {scores};
    const at::Tensor& suppressed = transformer_.weights().suppressed;
    if (suppressed.numel() > 0)
      scores.index_fill_(1, suppressed, -std::numeric_limits<double>::infinity());
    const at::Tensor given = forced[i];
    Forbid(given, scores);
    const auto [best, likeliest] = at::max(scores, 1);
    const at::Tensor is_number = best.abs().lt(std::numeric_limits<double>::infinity());
    chosen.push_back(at::where(given.ge(0), given, at::where(is_number, likeliest, -1)));
    input.tokens = chosen.back().clamp_min(0);
  }
  return {at::stack(chosen)};
}

std::vector<at::Tensor> CachedTransformer::RunFused(const at::Tensor& packed, const Shape& shape,
                                                    Wanted wanted) const {
  Unpacker unpacker(packed);
  FusedStepsInput input;
  at::Tensor tokens = unpacker.Next(shape.rows);
  input.positions = unpacker.Next(shape.rows);
  input.source_lengths = unpacker.Next(shape.rows);
  const at::Tensor forced = unpacker.Next(shape.tokens * shape.rows).view({shape.tokens, -1});
  input.path = unpacker.Next(shape.rows * shape.path);
  input.sources = unpacker.Next(shape.rows * shape.source);
  const at::Tensor chosen = at::empty({shape.tokens, shape.rows}, packed.options());
  for (int64_t i = 0; i < shape.tokens; ++i) {
    const at::Tensor scores = fused_->Step(input, tokens, i, cache_);
    if (wanted == Wanted::kScores) return {scores + transformer_.weights().output.bias};
    tokens = fused_->Choose(scores, forced[i], chosen[i]);
  }
  return {chosen};
}

std::vector<std::vector<int32_t>> CachedTransformer::Continue(
    std::span<const Row> rows, size_t tokens, runtime::WorkerContext& context) const {
  std::vector<std::vector<int32_t>> all(rows.size());
  for (size_t first = 0; first < rows.size(); first += kMaxRows) {
    const auto group = rows.subspan(first, std::min(kMaxRows, rows.size() - first));
    const Shape shape(*this, group, static_cast<int64_t>(tokens));
    const at::Tensor chosen =
        runtime::RunCachedOnHost(context, shape.Key("continue", *this), {Pack(group, shape)},
                                 [&](const std::vector<at::Tensor>& given) {
                                   return Run(given[0], shape, Wanted::kTokens);
                                 })[0];
    const int64_t* token = chosen.const_data_ptr<int64_t>();
    for (size_t i = 0; i < tokens; ++i, token += shape.rows) {
      for (size_t row = 0; row < group.size(); ++row)
        all[first + row].push_back(static_cast<int32_t>(token[row]));
    }
  }
  return all;
}

at::Tensor CachedTransformer::Score(std::span<const Row> rows,
                                    runtime::WorkerContext& context) const {
  const Shape shape(*this, rows, 1);
  return runtime::RunCachedOnHost(context, shape.Key("score", *this), {Pack(rows, shape)},
                                  [&](const std::vector<at::Tensor>& given) {
                                    return Run(given[0], shape, Wanted::kScores);
                                  })[0];
}

std::vector<int32_t> CachedTransformer::Align(std::span<const Row> rows,
                                              runtime::WorkerContext& context) const {
  std::vector<int32_t> all;
  for (size_t first = 0; first < rows.size(); first += kMaxRows) {
    const auto group = rows.subspan(first, std::min(kMaxRows, rows.size() - first));
    Shape shape(*this, group, 1);
    // The number of sentences that end at once is unpredictable, so few_shapes always pads to the
    // most rows.
    if (few_shapes_) shape.rows = kMaxRows;
    const at::Tensor places =
        runtime::RunCachedOnHost(context, shape.Key("align", *this), {Pack(group, shape)},
                                 [&](const std::vector<at::Tensor>& given) {
                                   return Run(given[0], shape, Wanted::kAlignment);
                                 })[0];
    const int64_t* place = places.const_data_ptr<int64_t>();
    for (size_t row = 0; row < group.size(); ++row) all.push_back(static_cast<int32_t>(place[row]));
  }
  return all;
}

}  // namespace millrace::seq2seq
