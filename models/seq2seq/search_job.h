#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/seq2seq/seq2seq_config.h"
#include "models/translation/search/search.h"
#include "models/translation/translation_engine.h"

namespace millrace::seq2seq {

// What the searches of all sentences have in common. tokens: of the vocabulary.
translation::SearchTask CommonTask(const Seq2SeqConfig& config, int64_t tokens);
// The job's own, for a network with so many places.
translation::SearchTask TaskOf(const translation::SentenceJob& job, translation::SearchTask common,
                               size_t longest);
// What of a hypothesis belongs to the translation, or of what there is one of for each of its
// tokens: not the prefix, nor what is too much.
std::vector<int32_t> TargetOf(const translation::SentenceJob& job, std::span<const int32_t> tokens);
// Takes over what the search has come to; the job is done when the search is over. Throws when the
// scores were no numbers.
void TakeFromSearch(const translation::Search& search, translation::SentenceJob& job);

}  // namespace millrace::seq2seq
