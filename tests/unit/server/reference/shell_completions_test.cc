#include "server/reference/shell_completions.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace millrace::reference {
namespace {

bool HasText(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

OptionReference Find(const std::string& command, const std::string& flag) {
  for (const CommandReference& candidate : DescribeCommandLine()) {
    if (candidate.name != command) continue;
    for (const OptionReference& option : candidate.options) {
      if (std::find(option.flags.begin(), option.flags.end(), flag) != option.flags.end())
        return option;
    }
  }
  ADD_FAILURE() << command << " has no " << flag;
  return {};
}

TEST(DescribeCommandLineTest, TellsFlagsFromOptionsWithValues) {
  EXPECT_EQ(Find("selftest", "--json").placeholder, "");
  EXPECT_EQ(Find("serve", "--queue-size").placeholder, "N");
  EXPECT_FALSE(Find("serve", "--queue-size").value_may_be_missing);
  EXPECT_TRUE(Find("serve", "--insecure").value_may_be_missing);
  EXPECT_EQ(Find("synthesize", "--output").flags, (std::vector<std::string>{"-o", "--output"}));
}

TEST(DescribeCommandLineTest, KnowsTheWordsThatAnOptionAllows) {
  EXPECT_EQ(Find("serve", "--log-format").choices, (std::vector<std::string>{"text", "json"}));
  EXPECT_EQ(Find("check", "--reflection").choices, (std::vector<std::string>{"true", "false"}));
  EXPECT_EQ(Find("translate", "--format").choices,
            (std::vector<std::string>{"text", "html", "markdown"}));
  EXPECT_EQ(Find("hash-key", "--role").choices, (std::vector<std::string>{"user", "admin"}));
  EXPECT_TRUE(Find("translate", "--beam-size").choices.empty());
  EXPECT_TRUE(Find("translate", "--model").choices.empty());
}

TEST(ShellCompletionsTest, QuoteWhatTheShellsWouldRead) {
  const std::vector<CommandReference> commands = {
      {"say",
       "It's [new]: a command",
       {{{"--to"}, "FILE", false, "The file's [name]", "Options", {}},
        {{"-q", "--quiet"}, "", true, "Say nothing", "Options", {}}}}};
  const std::string zsh = ZshCompletion(commands);
  EXPECT_TRUE(HasText(zsh, "'say:It'\\''s \\[new\\]'\n")) << zsh;
  EXPECT_TRUE(HasText(zsh, "'--to=[The file'\\''s \\[name\\]]:FILE:_files'")) << zsh;
  EXPECT_TRUE(HasText(zsh, "'(-q --quiet)'{-q,--quiet}'[Say nothing]'")) << zsh;
  const std::string fish = FishCompletion(commands);
  EXPECT_TRUE(
      HasText(fish, "'__fish_seen_subcommand_from say' -l to -r -F -d 'The file\\'s [name]'\n"))
      << fish;
  EXPECT_TRUE(HasText(fish, "'__fish_seen_subcommand_from say' -s q -l quiet -d 'Say nothing'\n"))
      << fish;
  const std::string bash = BashCompletion(commands);
  EXPECT_TRUE(HasText(bash, "        --to) _millrace_paths -f; return ;;\n")) << bash;
  EXPECT_TRUE(HasText(bash, "_millrace_words '--to -q --quiet' ;;\n")) << bash;
}

}  // namespace
}  // namespace millrace::reference
