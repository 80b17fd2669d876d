#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/seq2seq/seq2seq_config.h"
#include "models/translation/search/search.h"
#include "models/translation/translation_engine.h"

namespace millrace::seq2seq {

// Makes the task that the searches of all sentences share. tokens: the size of the vocabulary.
translation::SearchTask CommonTask(const Seq2SeqConfig& config, int64_t tokens);
// Makes the task of one job for a network with `longest` positions.
translation::SearchTask TaskOf(const translation::SentenceJob& job, translation::SearchTask common,
                               size_t longest);
// Returns the part of a hypothesis that is the translation: without the prefix, cut at the job's
// greatest length. Also applies to a list with one number for each token of the hypothesis.
std::vector<int32_t> TargetOf(const translation::SentenceJob& job, std::span<const int32_t> tokens);
// Copies the search's result to the job, which is done when the search is over. Throws when the
// scores were not finite.
void TakeFromSearch(const translation::Search& search, translation::SentenceJob& job);

}  // namespace millrace::seq2seq
