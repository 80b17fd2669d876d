#include "server/frontends/http/file_form.h"

#include <gtest/gtest.h>

namespace millrace::server {
namespace {

TEST(TranslatedName, HasTheTargetBeforeTheExtension) {
  EXPECT_EQ(TranslatedName("letter.docx", "pt"), "letter_pt.docx");
  EXPECT_EQ(TranslatedName("a.b.srt", "pt-BR"), "a.b_pt-BR.srt");
  EXPECT_EQ(TranslatedName(".txt", "pt"), "_pt.txt");
}

TEST(TranslatedName, HasNothingThatCouldHarm) {
  EXPECT_EQ(TranslatedName("../../etc/a.txt", "pt"), "a_pt.txt");
  EXPECT_EQ(TranslatedName("C:\\a.txt", "pt"), "a_pt.txt");
  EXPECT_EQ(TranslatedName("a\r\nb.txt", "p\"/t"), "a__b_pt.txt");
  EXPECT_EQ(TranslatedName(std::string(119, 'a') + "é.txt", ""), std::string(119, 'a') + "_.txt");
}

TEST(AttachmentNamed, IsOfTwoForms) {
  EXPECT_EQ(AttachmentNamed("a b.txt"),
            "attachment; filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt");
  EXPECT_EQ(AttachmentNamed("é\"\r.txt"),
            "attachment; filename=\"____.txt\"; filename*=UTF-8''%C3%A9%22%0D.txt");
}

TEST(AddressOf, IsWhatTheClientCalledTheServer) {
  httplib::Request request;
  EXPECT_EQ(AddressOf(request, "/a"), "/a");
  request.set_header("Host", "[::1]:8000");
  EXPECT_EQ(AddressOf(request, "/a"), "http://[::1]:8000/a");
  request.set_header("X-Forwarded-Proto", "https");
  EXPECT_EQ(AddressOf(request, "/a"), "https://[::1]:8000/a");
  httplib::Request bad;
  bad.set_header("Host", "a/<b>@c");
  EXPECT_EQ(AddressOf(bad, "/a"), "/a");
}

}  // namespace
}  // namespace millrace::server
