#pragma once

#include <cstddef>
#include <cstdint>

#include "models/translation/search/search.h"
#include "models/translation/seq2seq/seq2seq_config.h"
#include "models/translation/translation_engine.h"

namespace millrace::models {

// What the searches of all sentences have in common. words: of the vocabulary.
SearchTask CommonTask(const Seq2SeqConfig& config, int64_t words);
// The job's own, for a network with so many places.
SearchTask TaskOf(const SentenceJob& job, SearchTask common, size_t longest);
// Takes over what the search has come to; the job is done when the search is over. Throws when the
// scores were no numbers.
void TakeFromSearch(const Search& search, SentenceJob& job);

}  // namespace millrace::models
