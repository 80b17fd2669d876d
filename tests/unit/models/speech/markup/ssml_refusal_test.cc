// SSML that is refused, and by which name and place.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "models/speech/markup/ssml.h"
#include "tests/unit/models/speech/markup/markup_fixture.h"

namespace millrace::speech {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The error of a document.
std::string ErrorOf(const std::string& document) {
  const models::SpeechInfo info = TwoLanguages();
  const auto marked =
      ParseSsml(document, {.info = info, .model = "m", .language = "", .voice = "joe"});
  if (marked.ok()) return "";
  EXPECT_EQ(marked.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(marked.status().message());
}

std::string ErrorWithin(const std::string& content) {
  return ErrorOf("<speak>" + content + "</speak>");
}

TEST(SsmlRefusalTest, AFragmentIsRefusedByItsPlaceInTheWholeText) {
  const models::SpeechInfo info = TwoLanguages();
  const MarkupContext context = {
      .info = info, .model = "m", .language = "", .voice = "joe", .begin = {2, 5}};
  const std::pair<std::string, std::string> cases[] = {
      {"a <mark/>", "text: line 2, column 7: the element 'mark' is not supported"},
      {"a\n <mark/>", "text: line 3, column 2: the element 'mark' is not supported"},
      {"a <prosody rate='fast'>b", "text: line 2, column 7: <prosody>: is not closed"},
      {"<speak>b", "text: line 2, column 13: <speak>: is not closed"},
      {"a</prosody>b", "text: line 2, column 8: not well-formed SSML: mismatched tag"},
      {"a <bre", "not well-formed SSML"},
      {"a & b", "text: line 2, column 8: not well-formed SSML"},
      {"a &eacute;", "line 2, column 7: the entity '&eacute;' is not allowed"},
      {"<p><speak>b</speak></p>", "<speak>: is not allowed within another element"},
      {"a</speak><speak>b", "not well-formed SSML: junk after document element"},
      {"<!DOCTYPE a []>b", "not well-formed SSML"},
  };
  for (const auto& [fragment, error] : cases) {
    const auto marked = ParseSsmlFragment(fragment, context);
    EXPECT_THAT(std::string(marked.status().message()), HasSubstr(error)) << fragment;
  }
}

TEST(SsmlRefusalTest, NamesWhatIsNotSupportedAndWhere) {
  const std::pair<std::string, std::string> cases[] = {
      {"a\n <emphasis>b</emphasis>",
       "text: line 2, column 2: the element 'emphasis' is not supported; these are: <speak>, <p>"},
      {"<mstts:express-as style='x'/>", "the element 'mstts:express-as' is not supported"},
      {"<break tyme='1s'/>",
       "text: line 1, column 8: <break>: the attribute 'tyme' is not supported; allowed are time "
       "and strength"},
      {"<break time='1'/>",
       "<break>: time: '1' is not allowed; it is a time of 0s to 10s, such as 1.5s or 500ms"},
      {"<break time='-1s'/>", "time: '-1s' is not allowed"},
      {"<break time='infs'/>", "time: 'infs' is not allowed"},
      {"<break time='10.1s'/>", "time: '10.1s' is not allowed"},
      {"<break strength='big'/>", "strength: 'big' is not allowed; it is one of none, x-weak"},
      {"<break>a<s>b</s></break>", "is not allowed within <break>"},
      {"<break time='9s'/><break time='2s'/>", "the pause there is 11 s in all; at most 10 s"},
      {"<prosody>a</prosody>", "<prosody>: rate or volume: is missing"},
      {"<prosody pitch='high'>a</prosody>", "the attribute 'pitch' is not supported"},
      {"<prosody rate='0%'>a</prosody>", "rate: '0%' is not allowed"},
      {"<prosody rate='-100%'>a</prosody>", "rate: '-100%' is not allowed"},
      {"<prosody rate='500%'>a</prosody>", "rate: '500%' makes the speed 5; model 'm' has 0.25..4"},
      {"<prosody volume='loudest'>a</prosody>", "volume: 'loudest' is not allowed"},
      {"<prosody volume='+20dB'>a</prosody>",
       "volume: '+20dB' makes the volume 20 dB; it is -60..12"},
      {"<voice name='bob'>a</voice>",
       "<voice>: name: model 'm' has no voice 'bob'; it has: joe, ann, luc"},
      {"<voice name=''>a</voice>", "has no voice ''"},
      {"<voice>a</voice>", "<voice>: name: is missing"},
      {"<voice gender='female'>a</voice>", "the attribute 'gender' is not supported"},
      {"<lang xml:lang='de'>a</lang>", "model 'm' does not speak 'de'; it speaks: en-US, fr-FR"},
      {"<lang>a</lang>", "<lang>: xml:lang: is missing"},
      {"<sub>a</sub>", "<sub>: alias: is missing"},
      {"<sub alias=' '>a</sub>", "alias: is empty"},
      {"<sub alias='b'> </sub>", "<sub>: its text: is empty"},
      {"<sub alias='b'><s>a</s></sub>", "<s>: is not allowed within <sub>"},
      {"<sub alias='" + std::string(513, 'a') + "'>b</sub>", "alias: has 513 bytes; at most 512"},
      {"<phoneme alphabet='ipa'>a</phoneme>", "<phoneme>: ph: is missing"},
      {"<phoneme ph='a'>a</phoneme>", "<phoneme>: alphabet: is missing"},
      {"<phoneme alphabet='x-sampa' ph='a'>a</phoneme>", "alphabet: 'x-sampa' is not supported"},
      {"<say-as>a</say-as>", "<say-as>: interpret-as: is missing"},
      {"<say-as interpret-as='address'>a</say-as>", "interpret-as: 'address' is not supported"},
      {"<lang xml:lang='fr'><say-as interpret-as='ordinal'>3</say-as></lang>",
       "<say-as>: is supported for English only; the language is 'fr-FR'"},
      {"<p><p>a</p></p>", "<p>: is not allowed within <p>"},
      {"<s><p>a</p></s>", "<p>: is not allowed within <s>"},
      {"<s><voice name='ann'><s>a</s></voice></s>", "<s>: is not allowed within <s>"},
      {"<speak>a</speak>", "<speak>: is not allowed within another element"},
      {"<?php a?>", "the processing instruction 'php' is not supported"},
  };
  for (const auto& [content, error] : cases)
    EXPECT_THAT(ErrorWithin(content), HasSubstr(error)) << content;
}

TEST(SsmlRefusalTest, TheRootIsSpeak) {
  EXPECT_THAT(ErrorOf("<p>a</p>"), HasSubstr("<p>: the first element must be <speak>"));
  EXPECT_THAT(ErrorOf("Hello."), HasSubstr("line 1, column 1: not well-formed SSML"));
  EXPECT_THAT(ErrorOf("<speak version='2.0'>a</speak>"), HasSubstr("version: '2.0'"));
  EXPECT_THAT(ErrorOf("<speak onlangfailure='x'>a</speak>"), HasSubstr("'onlangfailure'"));
}

TEST(SsmlRefusalTest, NothingBadIsWellFormed) {
  for (const char* document :
       {"<speak>a", "<speak>a</s>", "<speak>a</speak>b", "<speak><break></speak>",
        "<speak>a & b</speak>", "<speak a='1' a='2'/>", "<speak>\xFF</speak>",
        "<speak>\xED\xA0\x80</speak>", "<", ""})
    EXPECT_THAT(ErrorOf(document), StartsWith("text: line 1, column ")) << document;
}

TEST(SsmlRefusalTest, EntitiesAreNeverExpanded) {
  EXPECT_EQ(ErrorWithin("a &copy; b"),
            "text: line 1, column 10: the entity '&copy;' is not allowed; &amp; &lt; &gt; &quot; "
            "&apos; and numbers such as &#233; are");
  EXPECT_EQ(ErrorOf("<!DOCTYPE speak [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><speak>&a;</speak>"),
            "text: line 1, column 1: a DOCTYPE is not allowed");
  EXPECT_THAT(ErrorOf("<!DOCTYPE speak SYSTEM 'http://127.0.0.1:1/x.dtd'><speak>a</speak>"),
              HasSubstr("a DOCTYPE is not allowed"));
}

TEST(SsmlRefusalTest, DepthElementsAndPausesAreBounded) {
  std::string deep;
  for (int i = 0; i < 32; ++i) deep += "<prosody rate='100%'>";
  EXPECT_THAT(ErrorWithin(deep), HasSubstr("element <prosody> is nested 33 deep; 32 are allowed"));
  std::string deeper;
  for (int i = 0; i < 40'000; ++i) deeper += "<s>";
  EXPECT_THAT(ErrorWithin(deeper), HasSubstr("<s>: is not allowed within <s>"));
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "<s/>";
  EXPECT_THAT(ErrorWithin(many), HasSubstr("there are more than 20000 elements"));
  std::string long_pauses;
  for (int i = 0; i < 61; ++i) long_pauses += "a<break time='10s'/>";
  EXPECT_THAT(ErrorWithin(long_pauses), HasSubstr("610 s in all; at most 600 s"));
}

}  // namespace
}  // namespace millrace::speech
