#include "models/translation/search/search.h"

#include <utility>

#include "models/translation/search/beam_search.h"
#include "models/translation/search/single_search.h"

namespace millrace::translation {

std::unique_ptr<Search> MakeSearch(const SearchOptions& options, SearchTask task) {
  if (options.beam_size == 1) return std::make_unique<SingleSearch>(options, std::move(task));
  return std::make_unique<BeamSearch>(options, std::move(task));
}

}  // namespace millrace::translation
