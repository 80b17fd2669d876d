#include "models/text/code_statement.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"

namespace millrace::models {
namespace {

// Returns the text with brackets around what is a statement, as its words begin.
std::string Marked(const std::string& text) {
  std::string marked;
  for (size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n';
    const size_t end = begins ? CodeStatementEnd(text, at) : 0;
    if (end > at) {
      marked += "[" + text.substr(at, end - at) + "]";
      at = end;
    } else {
      marked += text[at++];
    }
  }
  return marked;
}

TEST(CodeStatementTest, StatementsOfSqlEndWhereTheSentenceGoesOn) {
  for (const char* text : {
           "[SELECT name FROM users WHERE id = 5;]",
           "Run [SELECT * FROM orders;] to see the orders.",
           "The query [SELECT u.id, u.name FROM users u JOIN orders o ON o.user_id = u.id] is "
           "slow.",
           "[SELECT * FROM users] to see them.",
           "[UPDATE users SET name = 'Bob' WHERE id = 1]",
           "[INSERT INTO logs (level, text) VALUES ('info', 'it began');]",
           "Use [DELETE FROM sessions WHERE expired = true], then wait.",
           "[DROP TABLE users;]",
           "[CREATE TABLE books (id INT PRIMARY KEY, title TEXT NOT NULL);]",
           "[ALTER TABLE books ADD COLUMN year INT;]",
           "[SELECT COUNT(*) FROM orders GROUP BY status ORDER BY total DESC LIMIT 10]",
           "[select * from users where id = 1]",
       }) {
    EXPECT_EQ(Marked(absl::StrReplaceAll(text, {{"[", ""}, {"]", ""}})), text);
  }
}

TEST(CodeStatementTest, CommandsHaveTheirArguments) {
  for (const char* text : {
           "[git commit -m \"fix the bug\"]",
           "Run [git commit -m \"fix the bug\"] to save it.",
           "[npm install --save express]",
           "Run [npm install] to install it.",
           "Use [pip install requests] to get it, or [conda install numpy].",
           "[pip install requests]",
           "[sudo apt-get install python3]",
           "$ [docker run -p 8080:80 --name web nginx]",
           "[kubectl get pods]",
           "[cd project && make]",
           "Type [ls -la] in the shell.",
           "[curl -X POST https://example.com/api]",
           "[ssh user@example.com]",
           "[chmod +x script.sh]",
           "[chmod 755 file.txt]",
           "Use [grep -r \"error\" .] to find it.",
           "[cat file.txt | sort | uniq]",
           "[export PATH=$PATH:/usr/bin]",
           "[python3 main.py --verbose]",
           "[make install]",
           "after [make clean all] it is new",
           "Execute [git push origin main] para enviar.",
           "Rode [docker ps] e veja.",
           "Run [mkdir build] first.",
           "The command [tar -xzf a.tar.gz] unpacks it.",
           "[echo \"Hello\" > out.txt]",
           "[find . -name \"*.py\"]",
       }) {
    EXPECT_EQ(Marked(absl::StrReplaceAll(text, {{"[", ""}, {"]", ""}})), text);
  }
}

TEST(CodeStatementTest, WordsOfSentencesAreNone) {
  for (const char* text : {
           "Make install easy.",
           "make clean copies of it",
           "please make test pages",
           "find the file and cut 5 pieces",
           "go get help",
           "we go run every day",
           "cat and dog",
           "the cat 2 sat",
           "find him/her e.g. there",
           "find {name} in ${place}",
           "find \"hello\" in the page",
           "use ssh keys to log in",
           "use sort or cut",
           "head and/or tail",
           "source: the internet",
           "echo cancellation",
           "git is a tool, and docker as well",
           "node.js and npm are there",
           "kill 2 birds with 1 stone",
           "touch the screen, less is more",
           "e cd de música",
           "Select a file from the list;",
           "SELECT YOUR PLAN",
           "UPDATE AVAILABLE",
           "DELETE FROM CART",
           "CREATE AN ACCOUNT TO ORDER",
           "DROP FILES HERE",
           "SELECT A FILE FROM THE LIST",
           "select one from them",
           "Insert the card into the slot.",
           "time to go",
       }) {
    EXPECT_EQ(Marked(text), text);
  }
}

}  // namespace
}  // namespace millrace::models
