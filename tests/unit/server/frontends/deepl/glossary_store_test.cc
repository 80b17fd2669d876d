#include "server/frontends/deepl/glossary_store.h"

#include <gtest/gtest.h>

#include <string>

#include "nlohmann/json.hpp"
#include "server/frontends/deepl/deepl_message.h"
#include "server/frontends/deepl/glossary_entries.h"

namespace millrace::server {
namespace {

Glossary Named(const std::string& name, size_t entries = 1) {
  return {.name = name,
          .source_language = "en",
          .target_language = "pt",
          .entries = std::vector<models::GlossaryEntry>(entries, {"a", "b"}),
          .created = {}};
}

TEST(GlossaryStoreTest, EachOwnerSeesItsOwn) {
  GlossaryStore store({});
  const std::string id = store.Add("anna", Named("one")).value();
  EXPECT_EQ(store.Find("anna", id)->name, "one");
  EXPECT_EQ(store.Find("ben", id), nullptr);
  EXPECT_FALSE(store.Remove("ben", id));
  EXPECT_TRUE(store.List("ben").empty());
  EXPECT_EQ(store.List("anna").size(), 1U);
  EXPECT_TRUE(store.Remove("anna", id));
  EXPECT_EQ(store.Find("anna", id), nullptr);
}

TEST(GlossaryStoreTest, WhatIsRemovedMakesRoom) {
  GlossaryStore store({.glossaries = 3, .glossaries_of_owner = 2, .bytes = 10'000});
  const std::string first = store.Add("anna", Named("one")).value();
  ASSERT_TRUE(store.Add("anna", Named("two")).ok());
  EXPECT_EQ(store.Add("anna", Named("three")).status().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(store.Add("ben", Named("three")).ok());
  EXPECT_FALSE(store.Add("clara", Named("four")).ok());
  ASSERT_TRUE(store.Remove("anna", first));
  EXPECT_FALSE(store.Add("clara", Named("four", 1'000)).ok());
  EXPECT_TRUE(store.Add("clara", Named("four")).ok());
}

TEST(GlossaryEntriesTest, BothFormatsAreRead) {
  const auto tsv = ParseGlossaryEntries("sea\tmar\r\n\n big  house \tcasa, grande\n", "tsv");
  ASSERT_TRUE(tsv.ok()) << tsv.status();
  EXPECT_EQ(*tsv,
            (std::vector<models::GlossaryEntry>{{"sea", "mar"}, {"big  house", "casa, grande"}}));
  EXPECT_EQ(GlossaryAsTsv(*tsv), "sea\tmar\nbig  house\tcasa, grande\n");
  const auto csv = ParseGlossaryEntries("sea,mar\n\"a, b\",\"c \"\"d\"\"\",en,pt\r\n", "csv");
  ASSERT_TRUE(csv.ok()) << csv.status();
  EXPECT_EQ(*csv, (std::vector<models::GlossaryEntry>{{"sea", "mar"}, {"a, b", "c \"d\""}}));
}

TEST(GlossaryEntriesTest, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {{"a\tb\nc", "entries: line 2"},
                                                       {"a\t\n", "entries: line 1"},
                                                       {"a\tb\tc", "entries: line 1"},
                                                       {"", "entries: there are none"},
                                                       {"\n\n", "entries: there are none"}};
  for (const auto& [text, message] : cases) {
    const absl::Status status = ParseGlossaryEntries(text, "tsv").status();
    EXPECT_EQ(status.message().find(message), 0U) << status;
  }
  EXPECT_NE(ParseGlossaryEntries("a\tb", "xlsx").status().message().find("'xlsx'"),
            std::string::npos);
  EXPECT_FALSE(ParseGlossaryEntries("a,b,c", "csv").ok());
  EXPECT_EQ(ParseGlossaryEntries("a,b\nc,\"d", "csv").status().message(),
            "entries: line 2 has a quote that is not closed");
  for (const char* term : {"\"a\tb\",c", "a,\"b\nc\"", "a,b\x01"}) {
    EXPECT_EQ(ParseGlossaryEntries(term, "csv").status().message(),
              "entries: line 1 has a control character within a term, which is not allowed")
        << term;
  }
}

TEST(ParseGlossaryTest, LanguagesAreCodes) {
  const nlohmann::json good = {{"name", "g"},
                               {"source_lang", "EN"},
                               {"target_lang", "pt-BR"},
                               {"entries", "a\tb"},
                               {"entries_format", "tsv"}};
  const auto glossary = ParseGlossary(good);
  ASSERT_TRUE(glossary.ok()) << glossary.status();
  EXPECT_EQ(glossary->source_language + " " + glossary->target_language, "en pt");
  for (const char* field : {"source_lang", "target_lang"}) {
    for (const std::string language : {"english", "e", "1x", "-en", "e\xc3\xa9"}) {
      nlohmann::json bad = good;
      bad[field] = language;
      EXPECT_EQ(
          ParseGlossary(bad).status().message(),
          std::string(field) + ": '" + language + "' is not the code of a language, such as EN");
    }
  }
}

}  // namespace
}  // namespace millrace::server
