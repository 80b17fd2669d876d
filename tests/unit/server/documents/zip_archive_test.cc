#include "server/documents/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/documents/zip_file.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ZipEntries kEntries = {{"mimetype", "text"}, {"a.xml", "<a/>"}, {"b.bin", "bbbb"}};

// Returns the message of the error of opening an archive; empty: there is none.
std::string WrongWith(std::string bytes, const DocumentLimits& limits = {}) {
  return std::string(ZipArchive::Open(std::move(bytes), limits).status().message());
}

TEST(ZipArchive, ReplacesAnEntryAndKeepsTheOthers) {
  const std::string bytes = Packed(kEntries);
  auto archive = ZipArchive::Open(bytes, {});
  ASSERT_TRUE(archive.ok()) << archive.status();
  EXPECT_THAT((*archive)->Names(), ElementsAre("mimetype", "a.xml", "b.bin"));
  EXPECT_EQ(*(*archive)->Read("a.xml", 4), "<a/>");
  ASSERT_TRUE((*archive)->Replace("a.xml", "<other/>").ok());
  const absl::StatusOr<std::string> out = (*archive)->Finish();
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(Unpacked(*out), (ZipEntries{kEntries[0], {"a.xml", "<other/>"}, kEntries[2]}));
  const ZipEntries before = Unpacked(bytes, ZIP_FL_COMPRESSED);
  const ZipEntries after = Unpacked(*out, ZIP_FL_COMPRESSED);
  EXPECT_EQ(after[0], before[0]);
  EXPECT_EQ(after[2], before[2]);
}

TEST(ZipArchive, WithoutAChangeIsTheSameBytes) {
  const std::string bytes = Packed(kEntries);
  EXPECT_EQ(*(*ZipArchive::Open(bytes, {}))->Finish(), bytes);
}

TEST(ZipArchive, MayReplaceWhatIsBehindMostOfTheArchive) {
  const std::string picture(2000, 'p');
  const std::string bytes = Packed({{"picture", picture}, {"a.xml", "<a/>"}});
  auto archive = ZipArchive::Open(bytes, {});
  ASSERT_TRUE((*archive)->Replace("a.xml", "<other/>").ok());
  EXPECT_EQ(Unpacked(*(*archive)->Finish()),
            (ZipEntries{{"picture", picture}, {"a.xml", "<other/>"}}));
}

TEST(ZipArchive, RefusesWhatIsNone) {
  EXPECT_EQ(WrongWith(""), "file: is empty");
  EXPECT_THAT(WrongWith("text"), HasSubstr("file: is not a zip archive"));
  const std::string bytes = Packed(kEntries);
  EXPECT_THAT(WrongWith(bytes.substr(0, bytes.size() / 2)), HasSubstr("not a zip archive"));
}

TEST(ZipArchive, RefusesEncryption) {
  EXPECT_EQ(WrongWith(Packed(kEntries, ZIP_EM_AES_256)), "file: is an encrypted zip archive");
}

TEST(ZipArchive, RefusesTheContainerOfEncryptedAndOldDocuments) {
  EXPECT_THAT(WrongWith("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + std::string(600, 'a')),
              HasSubstr("file: is encrypted, or of a format before Office 2007"));
}

TEST(ZipArchive, RefusesMoreThanIsAllowed) {
  EXPECT_THAT(WrongWith(Packed(kEntries), {.entries = 2}),
              HasSubstr("has 3 entries; at most 2 are allowed"));
  EXPECT_EQ(WrongWith(Packed(kEntries), {.entries = 3, .unpacked_bytes = 12}), "");
  EXPECT_THAT(WrongWith(Packed(kEntries), {.unpacked_bytes = 11}),
              HasSubstr("unpacks to more than 11 bytes"));
}

TEST(ZipArchive, RefusesABomb) {
  const std::string bomb = Packed({{"first", ""}, {"zeros", std::string(16 << 20, '\0')}});
  ASSERT_LT(bomb.size(), 32 << 10);
  EXPECT_THAT(WrongWith(bomb), HasSubstr("unpacks to more than"));
}

TEST(ZipArchive, DoesNotBelieveASize) {
  // The size in the directory, which is at the end, is made smaller than what the entry unpacks to.
  std::string bytes = Packed({{"first", ""}, {"a.xml", std::string(100'000, 'a')}});
  const std::string size = {'\xA0', '\x86', '\x01', '\0'};
  for (size_t at = bytes.find(size); at != std::string::npos; at = bytes.find(size, at))
    bytes.replace(at, 4, std::string{'\1', '\0', '\0', '\0'});
  auto archive = ZipArchive::Open(bytes, {});
  ASSERT_TRUE(archive.ok()) << archive.status();
  const absl::StatusOr<std::string> content = (*archive)->Read("a.xml", 1000);
  EXPECT_FALSE(content.ok());
}

TEST(ZipArchive, RefusesDamage) {
  std::string bytes = Packed({{"a.xml", std::string(100, 'a')}});
  bytes[60] ^= 1;  // in the content, which is stored
  auto archive = ZipArchive::Open(bytes, {});
  ASSERT_TRUE(archive.ok());
  EXPECT_THAT(std::string((*archive)->Read("a.xml", 1000).status().message()),
              HasSubstr("file: the entry 'a.xml' of the zip archive cannot be read"));
  EXPECT_THAT(std::string((*archive)->Read("b.xml", 1000).status().message()),
              HasSubstr("'b.xml'"));
}

}  // namespace
}  // namespace millrace::server
