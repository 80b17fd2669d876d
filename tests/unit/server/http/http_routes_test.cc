#include "server/http/http_routes.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "httplib.h"
#include "server/http/http_server.h"
#include "tests/fakes/http_client.h"
#include "tests/unit/server/http/http_client.h"

namespace millrace {
namespace {

TEST(HttpRoutesTest, StreamsInChunks) {
  HttpServer server(AnyPort());
  server.routes().Get("/stream", [](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider("text/plain",
                                          [n = 0](size_t, httplib::DataSink& sink) mutable {
                                            const std::string chunk = std::to_string(n);
                                            sink.write(chunk.data(), chunk.size());
                                            if (++n == 5) sink.done();
                                            return true;
                                          });
  });
  ASSERT_TRUE(server.Start().ok());
  const auto result = testing::HttpClient(server.port()).Get("/stream");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->body, "01234");
}

TEST(HttpRoutesTest, ErrorsAreJson) {
  HttpServer::Options options = AnyPort();
  options.max_body_bytes = 100;
  HttpServer server(options);
  server.routes().Get("/throws", [](const httplib::Request&, httplib::Response&) {
    throw std::runtime_error("secret detail");
  });
  server.routes().Post("/echo", SendBack);
  ASSERT_TRUE(server.Start().ok());
  testing::HttpClient client(server.port());
  auto result = client.Get("/nowhere");
  EXPECT_EQ(result->status, 404);
  EXPECT_EQ(ErrorOf(result), "no such path: '/nowhere'");
  result = client.Get("/throws");
  EXPECT_EQ(result->status, 500);
  EXPECT_EQ(ErrorOf(result), "internal error");
  result = client.Post("/echo", std::string(101, 'x'), "text/plain");
  EXPECT_EQ(result->status, 413);
  EXPECT_EQ(ErrorOf(result), "body is larger than the 100 bytes allowed");
  EXPECT_EQ(client.Post("/echo", std::string(100, 'x'), "text/plain")->status, 200);
  result = client.Get("/" + std::string(1999, 'a'));
  EXPECT_EQ(result->status, 414);
  EXPECT_EQ(ErrorOf(result), "the path has 2000 bytes; at most 1024 are allowed");
  result = client.Get("/" + std::string(19999, 'a'));
  EXPECT_EQ(result->status, 414);
  EXPECT_EQ(ErrorOf(result), "the path with the query has 20000 bytes; at most 8000 are allowed");
}

TEST(HttpRoutesTest, ARouteMayTakeALargerBodyThanOthers) {
  HttpServer::Options options = AnyPort();
  options.max_body_bytes = 100;
  HttpServer server(options);
  const auto size_of_body = [](const httplib::Request&, httplib::Response& response,
                               const httplib::ContentReader& reader) {
    size_t size = 0;
    reader([&size](const char*, size_t more) {
      size += more;
      return true;
    });
    response.set_content(std::to_string(size), "text/plain");
  };
  server.routes().Post("/small", size_of_body);
  server.routes().Post("/large/([^/]+)", size_of_body, 10'000);
  ASSERT_TRUE(server.Start().ok());
  testing::HttpClient client(server.port());
  EXPECT_EQ(client.Post("/large/one", std::string(10'000, 'x'), "text/plain")->body, "10000");
  auto result = client.Post("/large/one", std::string(10'001, 'x'), "text/plain");
  EXPECT_EQ(result->status, 413);
  EXPECT_EQ(ErrorOf(result), "body is larger than the 10000 bytes allowed");
  EXPECT_EQ(client.Post("/small", std::string(100, 'x'), "text/plain")->body, "100");
  for (const char* path : {"/small", "/nowhere"}) {
    result = client.Post(path, std::string(101, 'x'), "text/plain");
    EXPECT_EQ(result->status, 413) << path;
    EXPECT_EQ(ErrorOf(result), "body is larger than the 100 bytes allowed");
  }
}

TEST(HttpRoutesTest, APathThatIsSpelledOutIsNotAPatterns) {
  HttpServer server(AnyPort());
  const auto named = [](const char* name) {
    return [name](const httplib::Request&, httplib::Response& response) {
      response.set_content(name, "text/plain");
    };
  };
  server.routes().Get("/things/list", named("list"));
  server.routes().Get("/things/([^/]+)", named("one"));
  server.routes().Post("/things/([^/]+)", named("posted"));
  ASSERT_TRUE(server.Start().ok());
  testing::HttpClient client(server.port());
  for (const char* path : {"/things/list", "/things/list/"}) {
    EXPECT_EQ(client.Get(path)->body, "list");
    const auto refused = client.Post(path, "", "text/plain");
    EXPECT_EQ(refused->status, 405) << path;
    EXPECT_EQ(refused->get_header_value("Allow"), "GET, HEAD, OPTIONS");
  }
  EXPECT_EQ(client.Get("/things/a")->body, "one");
  EXPECT_EQ(client.Post("/things/a/", "", "text/plain")->body, "posted");
  EXPECT_EQ(client.Get("/things/a//")->status, 404);
}

// The text at the ends of a pattern is compared before the pattern is tried.
TEST(HttpRoutesTest, PatternsMatchAsRegularExpressionsDo) {
  HttpServer server(AnyPort());
  for (const char* pattern : {"/colou?r/([^/]+)", "/a/x|/b/y", "/(one|two)/end", "/dir/([^/]+)/",
                              "/(any)?thing", "/v/([^/]+)(/w/([^/]+))?/run", "/file[.]js"}) {
    server.routes().Get(pattern, [pattern](const httplib::Request&, httplib::Response& response) {
      response.set_content(pattern, "text/plain");
    });
  }
  ASSERT_TRUE(server.Start().ok());
  testing::HttpClient client(server.port());
  for (const char* path : {"/color/red", "/colour/red", "/colour/red/", "/a/x", "/b/y", "/one/end",
                           "/two/end/", "/dir/a/", "/dir/a//", "/anything", "/thing", "/v/1/run",
                           "/v/1/w/2/run", "/v/1/w/2/run/", "/file.js"}) {
    EXPECT_EQ(client.Get(path)->status, 200) << path;
  }
  for (const char* path : {"/colouur/red", "/a/y", "/three/end", "/dir/a", "/athing", "/v/run",
                           "/v/1/w/run", "/v/1/walk", "/filejs"}) {
    EXPECT_EQ(client.Get(path)->status, 404) << path;
  }
}

TEST(HttpRoutesTest, ARangeIsIgnored) {
  HttpServer server(AnyPort());
  const std::string whole(1000, 'x');
  server.routes().Get("/whole", [&whole](const httplib::Request&, httplib::Response& response) {
    response.set_content(whole, "text/plain");
  });
  server.routes().Get("/stream", [](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider("text/plain", [](size_t, httplib::DataSink& sink) {
      sink.write("abc", 3);
      sink.done();
      return true;
    });
  });
  ASSERT_TRUE(server.Start().ok());
  testing::HttpClient client(server.port());
  std::string many = "bytes=0-";
  for (int i = 0; i < 2500; ++i) many += ",0-";
  for (const std::string& range :
       {std::string("bytes=0-9"), std::string("bytes=9-0,nonsense"), many}) {
    const auto result = client.Get("/whole", {{"rAnGe", range}, {"X-Last", "kept"}});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, 200);
    EXPECT_EQ(result->body, whole);
    EXPECT_FALSE(result->has_header("Content-Range"));
    EXPECT_EQ(client.Get("/stream", {{"Range", range}})->status, 200);
  }
}

TEST(HttpRoutesTest, AMethodThatAPathLacksIsToldWhichItHas) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", SayHi);
  server.routes().Post("/said", SayHi);
  server.routes().Get("/both/([^/]+)", SayHi);
  server.routes().Post("/both/([^/]+)", SayHi);
  ASSERT_TRUE(server.Start().ok());
  testing::HttpClient client(server.port());
  client.set_keep_alive(true);
  auto result = client.Post("/hello", "body", "text/plain");
  EXPECT_EQ(result->status, 405);
  EXPECT_EQ(result->get_header_value("Allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(ErrorOf(result), "the method POST is not allowed here; GET, HEAD are");
  result = client.Get("/said");
  EXPECT_EQ(result->status, 405);
  EXPECT_EQ(result->get_header_value("Allow"), "POST, OPTIONS");
  EXPECT_EQ(client.Head("/said")->status, 405);
  result = client.Delete("/both/x");
  EXPECT_EQ(result->status, 405);
  EXPECT_EQ(result->get_header_value("Allow"), "GET, HEAD, POST, OPTIONS");
  result = client.Options("/both/x");
  EXPECT_EQ(result->status, 204);
  EXPECT_EQ(result->get_header_value("Allow"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(client.Options("/nowhere")->status, 404);
  EXPECT_EQ(client.Post("/nowhere", "body", "text/plain")->status, 404);
}

TEST(HttpRoutesTest, HeadHasTheHeadersOfGetAndNoBody) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", SayHi);
  ASSERT_TRUE(server.Start().ok());
  const std::string answer = Raw(server.port(), "HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(answer.find("HTTP/1.1 200 "), size_t{0});
  EXPECT_NE(answer.find("Content-Length: 2\r\n"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("Accept-Ranges"), std::string::npos) << answer;
  EXPECT_EQ(answer.substr(answer.size() - 4), "\r\n\r\n");
}

TEST(HttpRoutesTest, APathMayEndWithASlash) {
  HttpServer server(AnyPort());
  server.routes().Get("/models/([^/]+)",
                      [](const httplib::Request& request, httplib::Response& response) {
                        response.set_content(request.matches[1].str(), "text/plain");
                      });
  ASSERT_TRUE(server.Start().ok());
  testing::HttpClient client(server.port());
  EXPECT_EQ(client.Get("/models/one/")->body, "one");
  EXPECT_EQ(client.Get("/models/one")->body, "one");
  EXPECT_EQ(client.Get("/models/one//")->status, 404);
}

}  // namespace
}  // namespace millrace
