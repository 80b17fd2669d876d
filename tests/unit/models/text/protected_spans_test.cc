#include "models/text/protected_spans.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "fakes/linear_time.h"

namespace millrace::models {
namespace {

using List = std::vector<std::string>;

List Found(std::string_view text, const TermIndex& terms = {}) {
  List found;
  for (const ProtectedSpan& span : FindProtectedSpans(text, terms))
    found.emplace_back(text.substr(span.begin, span.end - span.begin));
  return found;
}

// Protected text stands between « and ».
class ProtectedTest : public testing::TestWithParam<const char*> {};

TEST_P(ProtectedTest, IsWhatIsMarked) {
  std::string text;
  List expected;
  const std::string marked = GetParam();
  for (size_t at = 0; at < marked.size();) {
    if (marked.compare(at, 2, "«") == 0) {
      const size_t end = marked.find("»", at);
      expected.push_back(marked.substr(at + 2, end - at - 2));
      text += expected.back();
      at = end + 2;
    } else {
      text += marked[at++];
    }
  }
  EXPECT_EQ(Found(text), expected) << text;
}

TEST(ProtectedSpansTest, GuillemetsAreQuotationMarksInSomeLanguages) {
  const std::string text = "Open «name» now, «two words».";
  const auto count = [&text](bool guillemets) {
    return FindProtectedSpans(text, {}, {.guillemets = guillemets}).size();
  };
  EXPECT_EQ(count(true), 1);
  EXPECT_EQ(count(false), 0);
}

TEST(ProtectedSpansTest, GuillemetsAroundTheNameOfAFieldAreAlwaysThoseOfAPlaceholder) {
  const std::string text = "Abra «NAME» e «USER», «PAZ» ou «name».";
  EXPECT_EQ(FindProtectedSpans(text, {}, {.guillemets = false}).size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(
    Spans, ProtectedTest,
    testing::Values(
        "Name: «&name», so & or &lt; and R&b",
        "Open «*NAME*», «**NAME**», «(NAME)» or «[EMAIL]», **NAME**: so and (NEVER) nor *BIG*",
        "Match «*.log» and «notes/*», 5* or and/or*; see «/* the note */», «//name//» and // so //",
        "Clone «your-repo» or «YOUR-NAME», «my-app»; yours-to-keep, my own",
        "Open «(name)s» and «(user_id)d», (name) so, file«(s)»; «\\(user.name)»; «***NAME***» is "
        "it.",
        "See «name[]» or «names[][id]»: [name of it], «[%name]», «[$name]» and «[*name*]», [5% "
        "off]: «[NAME]»",
        "Use «@android:string/ok», «@+id/name» and «?attr/color_primary», «@ann»: so, why?and; "
        "«$!name»",
        "Open «/users/{id}/posts» or «/x/{id}», «[name:first]» and «{n}…{m}», {a note}: «</#if>»",
        "Get «AppLocalizations.of(context)!.name», «S.of(context).title» and «users[].name»: f. "
        "So.",
        "Call «this.$t(\"x.y\")», «$esc.html($x)»; «open().then(f)». It costs «$x».no more.",
        "At «[::1]:80» or «[fe80::1]», [it is]: «https://{host}:{port}/{path}» for «R$ {0}» or "
        "«US$ "
        "%s».",
        "Read «{a}/static/{b}.css», «{{see}}»/no; «{lang}/docs/{page}», «app://%s», «{x}»/or "
        "«{y}».",
        "At «%Y-%m-%d %H:%M» or «%1$,.2f» and «%,d» of «%B»; «YYYY-MM-DD», «dd/MM/yyyy» and "
        "«HH:mm», 5%B, 3-4, me-too.",
        "A «Map<string, number>» of «std::vector» or «List<List<T>>», if A<b and c> d, a<b>.",
        "As «text/plain; charset=utf-8»; «$obj->getName()» and «&nbsp;», AT&T; so.",
        "At «12°30'», «40°42'46\"» or «5'10\"», 20 degrees, 5' of it; «3.2e-4» and «1E10», 5 e 3.",
        "Of «§name§», «--name--», «++user_id++», «¬x.name¬», «!!name!!» and !!Stop!!, so.",
        "A «【name】» of «[(name)]», «((name))» or «⟦user_name⟧»; (name) and -- a remark --.",
        "In 「はい」, 《三体》 or 【новости】 of ⟨größe⟩.",
        "By «§name» and «&anchor», «*pointer» or «!!str»; R&D, Q&A, AT&T, ...well..., (so).",
        "Take «{n}–{m}», «{a}×{b}», «%[1]s», «%+v» and «{0}°C»; «@:{'key'}», «s3://bucket/key».",
        "It costs «US${0}» or «$%s»; «%sKB» and «%dpx», 5 %discount.",
        "About «{0}%», «%s»«%%» or «{n}€»; «#{n}», «+{n}» and «&{n}»; «%s»«%d», {a b}% of it.",
        "See «+name», «=user_name» and «?id»; +5, = name, C++ or why? Is it.",
        "«{y:i}»Hello there|«{y:b}»«{c:$0000ff}»You, «{a:b}km».", "«{1}»«{25}»The house.",
        "If «a || b», red «||» us «||» green «||» of «||» blue, about us => two.",
        "By «%%comentário%%» and «@@ação@@», 50% e 60%, «100%%» e «200%%».",
        "Save box«(es)», not (s), a(b), FILE(S); file«(s)» or item«(s)».",
        "Use «for (int i = 0; i < n; i++)», «if (x == null)» or «while (true)», for (all of) us.",
        "Of «unsigned long long», «const char *name», «void (*f)(int)», an int, a long short way.",
        "Write «let x = 5;», «const y = \"a\";» or «return 0;», let us return home; so.",
        "With «import numpy as np», «from os import path», «import {a} from 'b';»; import it as "
        "usual.",
        "At «this.state» and «self.name», this. So «.btn-primary» is «x ? y : 0», «y ?? 0», "
        "«>=3.8,<4».",
        "A «lambda x: x + 1» of (a, b) «=> a + b»; the value of «dict[str, int]» or «git push "
        "origin main», «git push» notes to origin.",
        "Set «color: #fff;», «margin: 0 auto;», «display: flex;» or «background-color: rgba(0, 0, "
        "0, "
        "0.5);»; in order: one, two; color: red and blue; left: none of them.",
        "So «await f()», «await fetch(url);», «throw new Error(\"bad\")» or «new Date()», new "
        "house, await it; «async function g(x)», «return x;», return home; so.",
        "Then «const y = await g();» is «a & b» or «n % 2 == 0», 5 % of it, R & B, a - b, 1 & 2.",
        "Log in as «user:pass», Note:this, at 10:30, with «width=\"100%\"», title=\"The house\".",
        "So «.btn.btn-primary:hover» is «.item:first-child», «.env».local.",
        "On «2024-05-01» or «2024-05-01T12:30:00Z», not 2024-05-010; «UTC+3» and UTC.",
        "The key «d41d8cd98f00b204e9800998ecf8427e» of «1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa».",
        "Say «¯\\_(ツ)_/¯», «:100:», «:flag-br:», «@me-too», «:'(» and «(╯°□°)╯︵ ┻━┻» to "
        "«u/someone» of «r/place», u/w.",
        "Use \"«-rf»\" here, -item there; «$x::NAME», «sip:me@host», «file-*.log».",
        "Hello «{name}», you have «{0}» of «{{ total }}».", "Use «${HOME}» or «$PATH», for $5.",
        "«{n, plural, one {# cat} other {# cats}}» (see {a remark}).",
        "«%s» has «%1$d» of «%(size)s», «%-5.2f» %, 100% done, 5%d.",
        "Press «%@», 50 % sure; «%recipient.name%».", "It is «:smile:» and «:count» at 10:30: yes.",
        "See «https://a.b/c?d=e#f», or «www.x.com».", "(«http://a.b/c_(d)») and («https://a.b»)!",
        "Write to «me.you+x@mail.example.com».",
        "Ask «@maria_s» about «#topic» and «#12», C# is no tag.",
        "Open «/etc/hosts», «./run.sh» or «~/a/b.txt»: and/or, 1/2, km/h.",
        "In «src/main.cc» and «C:\\Users\\x.doc» of «report.pdf».",
        "Version «1.2.3», «v2», «2.0.1-rc1», not 3.14, 1.234.567 or 1999.",
        "Call «get_name» or «open()» of `x", "The «`a b`» and «``c`d``» there.",
        "Visit «example.com». Then go.", "A sentence. Another one, isn't it? Yes: no; (so)!",
        "É «{nome}» à «https://é.com/ã», não é?", "mail@ and @ and # and % and { and $.",
        "Open «{ name }» of «${ amount }» or «{Your Name}», {a few words}.",
        "Is «2*3*4» 24? Got «%1» of «%2» («%n» left), «%s»«%%», «100%%», 5 %1.",
        "Got «%( name )s», «%<user>s», «((name))» or «(( user name ))», not ((see the note)).",
        "Ask «<< x >>», «<<name>>», «<< user name >>»; not << Bom dia >> or a << b.",
        "Got «[ name ]», «[% user name %]», «[: name :]», «%% name %%» and «{! user name !}».",
        "Of «5(2)», «3(a)(ii)», «12.1(c)(iv)», «501 (c) (3)»; not 3 item«(s)», 5 (about half) or "
        "f(2).",
        "See «[12]», «[3, 7]» and «[4-9]», not [1.5] or [12 of them].",
        "Is 3(abc) or 1,5 (a) or 3(a)b or ## name ##?", "Is «v%s» at «{0}km», «A{1}B», «%d:%d»?",
        "Say «#{name}», «{% if a %}», «<%= b %>», «<?php echo $x; ?>».",
        "The [Smith et al] of «[name]» and «[Your Name]» in «[[a page]]».",
        "At «|name|» | x | y |.",
        "The «\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F» flag.",
        "In «photo.JPG», «READ.MD», the end.It is.", "Is «:ref:`a <b>`» or «``c``».",
        "A «{n, plural,\n one {# a}\n other {# b}}» there.",
        "Run «$(pwd)» and «$((1+2))», «$t(key, {\"a\": 1})», «$env:PATH», «$it->name», "
        "«$HOME/bin/run».",
        "Is «$x^2$» or «$HOME»/«$USER» worth $5, $6 or «$NAME».",
        "In «C:/Users/me», «git@host:org/repo», «../a/b.c»; at 5:30.",
        "A «std::vector», «2001:db8::1», «00:1a:2b:3c» and 10:30:45, so: yes.",
        "As «text/html», «image/png», and/or, audio/video; «0x1F», 0x, «userName», iPhone, "
        "McDonald.",
        "Match «^\\d+$», «^[a-z]+$», «.*\\.log», «a&&b»; etc.*, (yes), Q&A, «[1]» and so on.",
        "Call «print(\"hello there\")» or say (\"hello\").",
        "Call «obj.method(x, y)» or «get_name(user)», not e.g.(see it) or U.S.(now).",
        "Hello «!name»! Is it «!important»? No! And so!a !!b.",
        "Run «--force» and «--color=auto»; so -- self--made.", "It --which is old-- was red.",
        "A «&lt;b&gt;» bold «&lt;/b&gt;» of «&lt;a href=x&gt;», 1 &lt; 2 &gt; 1, &lt;see it&gt;.",
        "Set «{x + y}», «{a ? b : \"c\"}», «{\"a\": 1}», {a remark, in braces}.",
        "To «##NAME##», «@@NAME@@», «$$NAME$$», «%%NAME%%», «*|NAME|*», «%NAME%», «[%NAME%]».",
        "By «@org/team», «@Model.Name», «@:a.key», «@if(x)», «@maria». So.",
        "Press «⌘C» or «⇧⌘S», the «{0}º» and «{1}ª».",
        "Name: «?NAME?» of «?USER?», ?WHY? and ?Name?, NAME?",
        "A «[/b]» and «[url=http://x.com]» and «[code id=\"1\"]» there.", "[Music] [Laughter]",
        "[Music] [Laughter] The house.", "Dear «[First Name]» «[Last Name]», hi.",
        "«&7»Hello «&l»World, «&6»«&l» and «§a»«§l» or «&#ff0000»; AT&T, Q&A, §12, «&open», R&D.",
        "Call «f(*args, **kwargs)», «max(a, b)», «rgb(255, 0, 0)»; not file«(s)», aluno(a, os).",
        "Set «arr[0]», «dict[\"key\"]», «items[i][j]», «x[1:3]»; a fact«[2]», text«[sic]», "
        "dia«[s]».",
        "Of «user->name», «$it->name», «Foo::bar()»; go to File->Save.",
        "From «data:image/png;base64,AA», «urn:isbn:045», «tel:+155512345»; data:12/05 or data: x.",
        "At «localhost:8080» or «127.0.0.1:8000/x» or «example.com:443»; the ratio is 3:1.",
        "Press «Ctrl+S», «Ctrl++», «Ctrl+-», «Ctrl+Shift+P», «Alt + F4», «Ctrl-C» or «Shift+Tab»; "
        "Shift and Alt.",
        "Needs «>=3.8», «^1.2.0» or «~> 2.1»; 3 >= 2 is so.",
        "If «a && b» or «x != y» then terms «&&» conditions.",
        "Find «**/*.js» and «src/*.cc»; «TypeError» and «NullPointerException», an Error.",
        "Edit «.gitignore», «.env» and \"«.bashrc»\" .So it is.",
        "To «#NAME#», «--NAME--», «~NAME~» or ~name~, -NO-, IBM--XT.",
        "A «:D», «:-)», «:+1:» and «::name::»; so: (yes), 10:30:D.",
        "Pay «DE89 3704 0044 0532 0130 00», call «+55 11 91234-5678» or «(11) 1234-5678».",
        "It is «12h30» in «pt-BR», 12h or ex-PM; +5 or (11) 5.",
        "Say «@.lower:key» «[img]»«https://a.org/x.png»«[/img]».", "«.. note::» see",
        "snake «a_b_c», __ and dash - or – so-called e.g. this i.e. that."));

TEST(ProtectedSpansTest, TermsAreFoundAsWholeWordsTheLongestFirst) {
  TermIndex terms;
  terms.Add("data", "Daten");
  terms.Add("data base", "Datenbank");
  terms.Add("Apple", "");
  terms.Add("C++", "");
  terms.Add("日本", "Japan");
  terms.Build();
  const std::string text = "Data of the data base, an apple of Apple, metadata, C++ 日本語 C++x";
  std::vector<std::pair<std::string, std::string>> found;
  for (const ProtectedSpan& span : FindProtectedSpans(text, terms))
    found.emplace_back(text.substr(span.begin, span.end - span.begin), span.becomes);
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"Data", "Daten"}, {"data base", "Datenbank"}, {"Apple", "Apple"},
      {"C++", "C++"},    {"日本", "Japan"},          {"C++", "C++"}};
  EXPECT_EQ(found, expected);
}

TEST(ProtectedSpansTest, AnyCaseHoldsForOtherLettersToo) {
  TermIndex terms;
  terms.Add("ação", "action");
  terms.Add("ёлка", "tree");
  terms.Build();
  EXPECT_EQ(Found("AÇÃO, Ação, ЁЛКА", terms), (List{"AÇÃO", "Ação", "ЁЛКА"}));
}

TEST(ProtectedSpansTest, ATermBeatsAShorterPatternAndLosesToALongerOne) {
  TermIndex terms;
  terms.Add("www.x.com is ours", "");
  terms.Add("http", "");
  terms.Build();
  EXPECT_EQ(Found("www.x.com is ours. http://x.com or http", terms),
            (List{"www.x.com is ours", "http://x.com", "http"}));
}

TEST(ProtectedSpansTest, OfRandomTextAreInOrderAndWithin) {
  const List parts = {"{",    "}",  "%",  "$",     "s",    "1",       ".", "/", ":",
                      "@",    "`",  " ",  "\n",    "www.", "http://", "_", "#", "é",
                      "\xFF", "日", "()", "x.com", "~",    "\\",      "C:"};
  TermIndex terms;
  terms.Add("s 1", "t");
  terms.Add("é", "");
  terms.Build();
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (int i = 0; i < 20; ++i) text += parts[random() % parts.size()];
    size_t last = 0;
    for (const ProtectedSpan& span : FindProtectedSpans(text, terms)) {
      ASSERT_LE(last, span.begin) << text;
      ASSERT_LT(span.begin, span.end) << text;
      ASSERT_LE(span.end, text.size()) << text;
      last = span.end;
    }
  }
}

class ManySpansTest : public testing::TestWithParam<const char*> {};

TEST_P(ManySpansTest, TakeLinearTime) {
  TermIndex terms;
  terms.Add(std::string(200, 'a'), "");
  terms.Add("a a a a a a a a a b", "");
  terms.Build();
  ExpectLinearTime(GetParam(), 400'000,
                   [&](const std::string& text) { FindProtectedSpans(text, terms); });
}

INSTANTIATE_TEST_SUITE_P(Spans, ManySpansTest,
                         testing::Values("a", "a ", "{", "{{", "`", "` ", "%", "%1$", "a@", "a.",
                                         "http://", "(http://a)", "www.", ")", "/a", "/", "_", ":a",
                                         "#", "\xC3", "C:\\", "1.", "a()", "http://)))", "(", "\"",
                                         "$(", "$a", "a:", "[a] ", "[a]", "*|", "##", "@a/", ".*",
                                         "^", "⌘", "{x + "));

}  // namespace
}  // namespace millrace::models
