#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/sentence_stream.h"

namespace millrace::speech {

// Cuts SSML that arrives in parts into pieces that can be parsed one by one: whole sentences, of
// which no element, tag or entity reaches into the next piece. A sentence that ends within an
// element waits for the element's end. For one thread; holds no more than one sentence, the open
// element and the last part.
class SsmlStream {
 public:
  // The stream does not wait for the end of what is longer: it is returned as it is, for the parser
  // to refuse.
  static constexpr size_t kMaxTagBytes = size_t{4} << 10;
  static constexpr size_t kMaxElementBytes = size_t{64} << 10;

  // Adds the next part: UTF-8, cut between characters, perhaps within a tag. Returns the sentences
  // that have ended, or "".
  std::string Push(std::string_view part);
  // Returns the remaining text up to an element or a tag that has not ended.
  std::string TakeWhole();
  // Returns all of the remaining text. The stream is empty afterwards.
  std::string TakeRest();

 private:
  // A stretch of text outside of elements, without tags. It is the same in both texts.
  struct Run {
    size_t plain_begin = 0;  // in the text without tags
    size_t plain_end = 0;
    size_t source_begin = 0;  // in the text as it came
    size_t gap = 0;           // white space of the plain text that stands for the tag behind it
  };

  // Reads what has arrived, as far as it is whole.
  void Scan();
  void TakeTag(std::string_view tag);
  // Adds text within an element, or that stands for an entity.
  void AddInner(std::string_view text);
  // Adds white space in place of a tag, unless there is some.
  void AddGap(char space);
  void AddPlain(std::string_view text);
  // Looks for the ends of sentences in what was added.
  void Split();
  // Returns the text before this place of the source.
  std::string TakeTo(size_t source);

  // Positions count from the beginning of the whole text.
  std::string text_;      // not returned yet
  size_t taken_ = 0;      // bytes of the source before text_
  size_t scanned_ = 0;    // bytes of the source
  size_t cut_ = 0;        // the end of the last sentence that ended outside of elements
  size_t depth_ = 0;      // open elements at scanned_
  size_t element_ = 0;    // where the outermost of them begins
  bool entered_ = false;  // it has no word yet
  std::vector<Run> runs_ = {Run()};
  models::SentenceStream sentences_;  // splits the text without tags
  std::string unsplit_;               // the text that it has not seen
  size_t plain_ = 0;                  // bytes of the text without tags
  size_t plain_ended_ = 0;            // bytes of its sentences that have ended
  char last_plain_ = ' ';
};

}  // namespace millrace::speech
