#include "models/text/chinese/chinese_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns where the characters begin, and the end of the text.
std::vector<size_t> CharacterPlaces(std::string_view text) {
  std::vector<size_t> places;
  for (size_t at = 0; at < text.size(); at += DecodeAt(text, at).bytes) places.push_back(at);
  places.push_back(text.size());
  return places;
}

class Divider {
 public:
  Divider(std::string_view text, const ChineseLexicon& lexicon)
      : text_(text), lexicon_(lexicon), places_(CharacterPlaces(text)) {}

  std::vector<std::string_view> Divide() {
    FindPath();
    size_t loose = 0;  // the first of the characters that are no longer word
    const size_t count = places_.size() - 1;
    for (size_t i = 0; i < count;) {
      const size_t end = path_[i].end;
      if (end - i > 1) {
        AddLoose(loose, i);
        words_.push_back(Piece(i, end));
        loose = end;
      }
      i = end;
    }
    AddLoose(loose, count);
    return std::move(words_);
  }

 private:
  // The word that begins with a character.
  struct Step {
    double weight = 0;  // logarithm of the probability of it and all behind it
    size_t end = 0;
  };

  std::string_view Piece(size_t begin, size_t end) const {
    return text_.substr(places_[begin], places_[end] - places_[begin]);
  }

  // Finds for each character the word that begins with it on the most probable path to the end of
  // the text.
  void FindPath() {
    const double log_total = std::log(lexicon_.total());
    path_.assign(places_.size(), Step());
    for (size_t i = places_.size() - 1; i-- > 0;) {
      Step& step = path_[i];
      step.weight = -std::numeric_limits<double>::infinity();
      for (size_t end = i + 1; end < places_.size(); ++end) {
        const std::string_view piece = Piece(i, end);
        const auto word = lexicon_.Find(piece);
        const uint64_t frequency = word ? word->frequency : 0;
        if (frequency > 0 || end == i + 1) {
          const double weight = std::log(static_cast<double>(std::max<uint64_t>(frequency, 1))) -
                                log_total + path_[end].weight;
          if (weight >= step.weight) step = {weight, end};
        }
        if (!lexicon_.HasPrefix(piece)) break;
      }
    }
  }

  void AddLoose(size_t begin, size_t end) {
    if (end - begin <= 1) {
      if (end > begin) words_.push_back(Piece(begin, end));
      return;
    }
    const auto word = lexicon_.Find(Piece(begin, end));
    if (word && word->frequency > 0) {
      for (size_t i = begin; i < end; ++i) words_.push_back(Piece(i, i + 1));
    } else {
      AddUnknown(begin, end);
    }
  }

  // Adds the words that the hidden Markov model finds: Viterbi's algorithm.
  void AddUnknown(size_t begin, size_t end) {
    using Lexicon = ChineseLexicon;
    const size_t count = end - begin;
    std::vector<std::array<size_t, Lexicon::kStates>> before(count);
    Lexicon::Logarithms score = lexicon_.start();
    for (size_t i = 0; i < count; ++i) {
      const Lexicon::Logarithms emission = lexicon_.Emissions(Piece(begin + i, begin + i + 1));
      Lexicon::Logarithms next = {};
      for (size_t state = 0; state < Lexicon::kStates; ++state) {
        if (i == 0) {
          next[state] = score[state] + emission[state];
          continue;
        }
        size_t from = Lexicon::kStates;
        for (size_t other = 0; other < Lexicon::kStates; ++other) {
          if (lexicon_.transitions()[other][state] <= Lexicon::kNever) continue;
          if (from == Lexicon::kStates || score[other] + lexicon_.transitions()[other][state] >
                                              score[from] + lexicon_.transitions()[from][state])
            from = other;
        }
        if (from == Lexicon::kStates) from = state;
        before[i][state] = from;
        next[state] = score[from] + lexicon_.transitions()[from][state] + emission[state];
      }
      score = next;
    }
    size_t state =
        score[Lexicon::kEnd] > score[Lexicon::kSingle] ? Lexicon::kEnd : Lexicon::kSingle;
    std::vector<size_t> states(count);
    for (size_t i = count; i-- > 0;) {
      states[i] = state;
      state = before[i][state];
    }
    size_t first = 0;
    for (size_t i = 0; i < count; ++i) {
      const bool last = states[i] == Lexicon::kEnd || states[i] == Lexicon::kSingle;
      if (!last && i + 1 < count) continue;
      words_.push_back(Piece(begin + first, begin + i + 1));
      first = i + 1;
    }
  }

  const std::string_view text_;
  const ChineseLexicon& lexicon_;
  const std::vector<size_t> places_;
  std::vector<Step> path_;
  std::vector<std::string_view> words_;
};

}  // namespace

std::vector<std::string_view> DivideChinese(std::string_view characters,
                                            const ChineseLexicon& lexicon) {
  return Divider(characters, lexicon).Divide();
}

}  // namespace millrace::models
