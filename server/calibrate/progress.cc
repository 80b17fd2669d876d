#include "server/calibrate/progress.h"

#include <algorithm>

#include "models/core/strings.h"

namespace millrace {
namespace {

std::string About(std::chrono::seconds time) {
  const int64_t seconds = time.count();
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 60 * kMinute;
  if (seconds < 2 * kMinute) return StrCat("about ", seconds, " s left");
  if (seconds < 2 * kHour) return StrCat("about ", seconds / kMinute, " min left");
  return StrCat("about ", seconds / kHour, " h left");
}

}  // namespace

void CalibrationProgress::OnCell(bool planned, bool was_known) {
  runs_ = 0;
  if (!planned) return;
  ++done_;
  known_ += was_known;
}

double CalibrationProgress::Fraction() const {
  if (cells_ == 0) return 1;
  const double begun = std::min(1.0, static_cast<double>(runs_) / repeats_);
  return std::min(1.0, (static_cast<double>(done_) + begun) / static_cast<double>(cells_));
}

std::optional<std::chrono::seconds> CalibrationProgress::Left() const {
  const double known =
      static_cast<double>(known_) / static_cast<double>(std::max<size_t>(cells_, 1));
  const double here = Fraction() - known;  // the part done by this process
  if (here <= 0 || Fraction() >= 1) return std::nullopt;
  const std::chrono::duration<double> took = clock_.Now() - start_;
  return std::chrono::ceil<std::chrono::seconds>(took * ((1 - Fraction()) / here));
}

std::string CalibrationProgress::Text() const {
  const auto left = Left();
  return StrCat(static_cast<int>(Fraction() * 100), " %", left ? ", " : "",
                left ? About(*left) : "");
}

std::string CalibrationProgress::Bar(size_t width) const {
  const auto full = static_cast<size_t>(Fraction() * static_cast<double>(width));
  return StrCat("[", std::string(full, '#'), std::string(width - full, '.'), "]");
}

}  // namespace millrace
