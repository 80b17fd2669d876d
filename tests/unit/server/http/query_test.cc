#include "server/http/query.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "httplib.h"
#include "server/http/http_routes.h"
#include "server/http/http_server.h"
#include "tests/fakes/http_client.h"
#include "tests/unit/server/http/http_client.h"

namespace millrace {
namespace {

using Names = std::vector<std::string>;

TEST(QueryTest, KnowsWhichParametersWereRead) {
  Query query("a=1&b=2&c&b=%3F+&d=x&c=y");
  EXPECT_FALSE(query.empty());
  std::string text;
  EXPECT_TRUE(query.TakeText("a", text).ok());
  EXPECT_EQ(text, "1");
  EXPECT_TRUE(query.TakeText("absent", text).ok());
  EXPECT_EQ(text, "1");
  EXPECT_EQ(query.TakeValues("b"), (Names{"2", "? "}));
  EXPECT_EQ(query.Unread(), (Names{"c", "d"}));
  EXPECT_EQ(query.TakeText("c", text).message(), "c: is given twice in the query");
  EXPECT_EQ(query.Unread(), Names{"d"});
  EXPECT_EQ(query.TakeAll().size(), 6U);
  EXPECT_EQ(query.Unread(), Names{});
  EXPECT_TRUE(Query().empty());
  EXPECT_TRUE(Query("&&").empty());
}

// Serves /a, which reads a parameter of that name and answers with its value.
class UnreadParametersTest : public ::testing::Test {
 protected:
  UnreadParametersTest() {
    server_.routes().Get("/a", ReadA);
    server_.routes().Post("/a", HttpRoutes::Handler(ReadA));
    server_.routes().Get("/streamed",
                         [](const httplib::Request& request, httplib::Response& response) {
                           ReadA(request, response);
                           const std::string body = std::exchange(response.body, "");
                           response.set_chunked_content_provider(
                               "text/plain", [body](size_t /*offset*/, httplib::DataSink& sink) {
                                 sink.write(body.data(), body.size());
                                 sink.done();
                                 return true;
                               });
                         });
    server_.routes().Get("/error", [](const httplib::Request&, httplib::Response& response) {
      SendError(response, 400, "wrong");
    });
    EXPECT_TRUE(server_.Start().ok());
  }

  static void ReadA(const httplib::Request& /*request*/, httplib::Response& response) {
    std::string value;
    EXPECT_TRUE(HttpQuery().TakeText("a", value).ok());
    response.set_content("[" + value + "]", "text/plain");
  }

  HttpServer server_{AnyPort()};
};

TEST_F(UnreadParametersTest, AreNamedInAWarning) {
  testing::HttpClient client(server_.port());
  const auto warning = [&](const std::string& target) {
    const auto result = client.Get(target);
    EXPECT_TRUE(result) << target;
    return result ? result->get_header_value("Warning") : "no answer";
  };
  for (const std::string path : {"/a", "/streamed", "/a/"}) {
    EXPECT_EQ(client.Get(path + "?b&a=1")->body, "[1]");
    EXPECT_EQ(warning(path + "?a=1"), "");
    EXPECT_EQ(warning(path + "?"), "");
    EXPECT_EQ(warning(path + "?b=1&a=1&c&b=2"), "299 millrace \"ignored query parameters: b, c\"");
    EXPECT_EQ(warning(path + "?b%0d%0aSet-Cookie%22=1"),
              "299 millrace \"ignored query parameters: b??Set-Cookie?\"");
  }
  EXPECT_EQ(client.Head("/a?b")->get_header_value("Warning"),
            "299 millrace \"ignored query parameters: b\"");
  // A handler that fails may not have read all parameters.
  EXPECT_EQ(warning("/error?b=1"), "");
  EXPECT_EQ(warning("/absent?b=1"), "");
  EXPECT_EQ(warning("/a"), "");
}

TEST_F(UnreadParametersTest, AreThoseOfTheQueryAlone) {
  testing::HttpClient client(server_.port());
  const auto result = client.Post("/a?c=1", "a=form&b=form", "application/x-www-form-urlencoded");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->body, "[]");
  EXPECT_EQ(result->get_header_value("Warning"), "299 millrace \"ignored query parameters: c\"");
  const auto options = client.Options("/a?c=1");
  ASSERT_TRUE(options);
  EXPECT_FALSE(options->has_header("Warning"));
}

}  // namespace
}  // namespace millrace
