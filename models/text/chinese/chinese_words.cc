#include "models/text/chinese/chinese_words.h"

#include <algorithm>
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

  // Adds the words that the hidden Markov model finds: Viterbi's algorithm. A character that it
  // does not know is a word.
  void AddUnknown(size_t begin, size_t end) {
    for (size_t i = begin; i < end;) {
      size_t known = i;
      while (known < end && !lexicon_.Emissions(Piece(known, known + 1)).empty()) ++known;
      if (known > i) AddKnown(i, known);
      if (known < end) words_.push_back(Piece(known, known + 1));
      i = known + 1;
    }
  }

  // A state of a character, and the best one before it.
  struct Node {
    size_t state = 0;
    double weight = 0;
    size_t before = 0;  // among those of the character before
  };

  void AddKnown(size_t begin, size_t end) {
    std::vector<std::vector<Node>> nodes(end - begin);
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const auto& [state, logarithm] : lexicon_.Emissions(Piece(begin + i, begin + i + 1))) {
        Node node{state, i == 0 ? lexicon_.start(state) : 2 * ChineseLexicon::kNever};
        for (size_t k = 0; i > 0 && k < nodes[i - 1].size(); ++k) {
          const double weight =
              nodes[i - 1][k].weight + lexicon_.transition(nodes[i - 1][k].state, state);
          if (weight > node.weight) node = {state, weight, k};
        }
        node.weight += logarithm;
        nodes[i].push_back(node);
      }
    }
    const auto ends = [this](const Node& node) {
      const char place = lexicon_.PlaceOf(node.state);
      return place == 'E' || place == 'S';
    };
    // A word ends at the end; with parts of speech it may be the beginning of one, as jieba has it.
    constexpr size_t kPlaces = 4;
    const bool any_end = lexicon_.states() > kPlaces;
    size_t best = 0;
    for (size_t k = 1; k < nodes.back().size(); ++k) {
      const Node& node = nodes.back()[k];
      const Node& other = nodes.back()[best];
      const bool allowed = any_end || ends(node);
      if (allowed && ((!any_end && !ends(other)) || node.weight > other.weight)) best = k;
    }
    std::vector<bool> is_last(nodes.size());
    for (size_t i = nodes.size(); i-- > 0;) {
      is_last[i] = ends(nodes[i][best]);
      best = nodes[i][best].before;
    }
    size_t first = begin;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!is_last[i] && i + 1 < nodes.size()) continue;
      words_.push_back(Piece(first, begin + i + 1));
      first = begin + i + 1;
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
