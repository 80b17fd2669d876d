#include "models/core/errors.h"
#include "models/text/japanese/morphological_analyzer.h"

namespace millrace::models {

absl::StatusOr<std::unique_ptr<const MorphologicalAnalyzer>> MorphologicalAnalyzer::Open() {
  return FailedPrecondition(
      "Japanese with kanji needs MeCab, which this build was made without: install libmecab-dev "
      "and "
      "mecab-ipadic-utf8 and build again");
}

}  // namespace millrace::models
