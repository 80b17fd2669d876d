#include "models/bergamot/positions.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

#include "mps_runtime/base/mutex.h"

namespace millrace::bergamot {
namespace {

// Returns the encodings of the positions below `positions`, the same as for earlier callers while
// one of these has them.
std::shared_ptr<const std::vector<float>> SharedTable(int64_t positions, int64_t dim) {
  static Mutex mu;
  static auto& tables = *new std::map<int64_t, std::weak_ptr<const std::vector<float>>>;
  MutexLock lock(mu);
  std::weak_ptr<const std::vector<float>>& known = tables[dim];
  if (auto table = known.lock()) return table;
  auto table = std::make_shared<std::vector<float>>(static_cast<size_t>(positions * dim));
  FillPositions(0, dim, *table);
  known = table;
  return table;
}

}  // namespace

void FillPositions(int64_t begin, int64_t dim, std::span<float> table) {
  const int64_t half = dim / 2;
  std::vector<double> rates(static_cast<size_t>(half));
  for (int64_t i = 0; i < half; ++i) {
    rates[static_cast<size_t>(i)] =
        std::exp(static_cast<double>(i) * -(std::log(10000.0) / static_cast<double>(half - 1)));
  }
  int64_t position = begin;
  for (size_t row = 0; row + static_cast<size_t>(dim) <= table.size();
       row += static_cast<size_t>(dim), ++position) {
    for (size_t i = 0; i < rates.size(); ++i) {
      const double angle = static_cast<double>(position) * rates[i];
      table[row + i] = static_cast<float>(std::sin(angle));
      table[row + rates.size() + i] = static_cast<float>(std::cos(angle));
    }
  }
}

PositionTable::PositionTable(int64_t dim) : dim_(dim), table_(SharedTable(kKept, dim)) {}

void PositionTable::Add(int64_t position, float* x) const {
  const float* row = table_->data() + position * dim_;
  std::vector<float> computed;
  if (position >= kKept) {
    computed.resize(static_cast<size_t>(dim_));
    FillPositions(position, dim_, computed);
    row = computed.data();
  }
  for (int64_t i = 0; i < dim_; ++i) x[i] += row[i];
}

}  // namespace millrace::bergamot
