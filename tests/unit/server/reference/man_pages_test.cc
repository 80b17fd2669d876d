#include "server/reference/man_pages.h"

#include <gtest/gtest.h>

#include "models/core/strings.h"
#include "server/config/options.h"
#include "server/reference/roff.h"

namespace millrace::reference {
namespace {

constexpr char kDate[] = "2026-11-24";

bool Has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(RoffTest, EscapesWhatTheMacrosWouldTakeForTheirOwn) {
  EXPECT_EQ(Roff(".TH 'x'\n'y' a-b\\c"), "\\&.TH 'x'\n\\&'y' a\\-b\\ec");
  EXPECT_EQ(InFont('B', "--a"), "\\fB\\-\\-a\\fR");
  EXPECT_EQ(Quoted("say \"a\""), "\"say \"\"a\"\"\"");
}

TEST(ManPagesTest, ServePageHasEachOptionWithItsHelp) {
  const std::string page = ServePage(DescribeCommandLine(), kDate);
  for (const Option& option : ServeOptions()) {
    EXPECT_TRUE(Has(page, InFont('B', FlagOf(option.name)))) << option.name;
    EXPECT_TRUE(Has(page, Roff(option.help))) << option.name;
  }
  EXPECT_TRUE(Has(page, "\\fB\\-\\-print\\-config\\fR"));
}

TEST(ManPagesTest, TomlPageHasEachKeyWithWhatItAllows) {
  const std::string page = TomlPage(kDate);
  for (const Option& option : ServeOptions()) {
    EXPECT_TRUE(Has(page, StrCat(InFont('B', KeyOf(option.name)), " = "))) << option.name;
    EXPECT_TRUE(Has(page, StrCat("Allowed: ", Roff(option.allowed)))) << option.name;
  }
  EXPECT_TRUE(Has(page, "\\fBworkers\\fR = \\fInumber\\fR"));
  EXPECT_TRUE(Has(page, "Default: 256.\n"));
}

TEST(ManPagesTest, MillracePageHasEachCommandAndTheOptionsOfClients) {
  const std::vector<CommandReference> commands = DescribeCommandLine();
  const std::string page = MillracePage(commands, kDate);
  for (const CommandReference& command : commands) {
    EXPECT_TRUE(Has(page, StrCat(".SS ", Quoted("millrace " + command.name), "\n")))
        << command.name;
    if (command.name == "serve" || command.name == "check") continue;
    for (const OptionReference& option : command.options) {
      for (const std::string& flag : option.flags)
        EXPECT_TRUE(Has(page, InFont('B', flag))) << command.name << " " << flag;
    }
  }
  EXPECT_FALSE(Has(page, InFont('B', "--queue-size")));
}

}  // namespace
}  // namespace millrace::reference
