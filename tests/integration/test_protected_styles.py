"""Placeholders and pieces of code of a hundred styles, each in sentences of both languages, and white space."""

import pytest
from wire.paths import EN_PT, PT_EN
from wire.requests import PATIENCE, translate_request
from wire.stubs import translation

# What a translation has to have byte for byte, as often as its source.
STYLES = r"""
{name} {0} {0:.2f} {{name}} {{ name }} { name } {user.name} {items[0]} {name!r} {Your.Name}
${name} ${ amount } $NAME $HOME %{name} #{name} @{name} {{{name}}} {Name With Space} {{count}}
%s %d %1$s %2$d %-5.2f %lld %(name)s %(total)d %% %1
%2 %n %L1 %@ %%s %s%% %name% __name__ :name :name:
<0> <name> <x1/> <0/> <br/> [[name]] |name| [[page|name]] {0}km v%s
A{1}B %d:%d {a}/{b} {x}-{y} x{0}y {0}% #{0} ({name}) "{name}" '{name}'
{{#if x}} {{/if}} {{>part}} {% url x %} {%- x -%} <%= team %> <% end %> <?php echo $x; ?> {# note #} {!name!}
&nbsp; &copy; &mdash; &#8211; &amp; &lt; &quot; ``code`` `a <b>` :ref:`the <guide>`
:doc:`intro` photo.JPG README.MD src/main.cc C:\Users\x.doc ~/a/b.txt /etc/hosts report.pdf Data.Json setup.PY
https://a.b/c?d=e#f www.x.com me@x.org @maria_s #topic get_name open() v1.2.3 192.168.0.1 a_b_c
{count,number} {n,plural,one{#x}other{#y}}
$(pwd) $((1+2)) $HOME/bin/run $this->name $env:PATH $x^2$ $t(common:button.save) %PATH% [%name%] %%FNAME%% ##FNAME## @@FNAME@@ *|FNAME|*
C:/Users/me/x.txt user@host:/path git@github.com:org/repo.git @org/team @Model.Name @if(x) {x}º {x}ª [/b] %{count} %<price>.2f {0!r:>10}
Map<K,V> List<String> a::b::c std::string 2001:db8::1 00:1A:2B:3C:4D:5E 0x1F camelCase ENOENT SIGTERM image/png text/html application/json print("hello")
%Y-%m-%d YYYY-MM-DD dd/MM/yyyy HH:mm 2024-05-01 2024-05-01T12:30:00Z UTC+3 d41d8cd98f00b204e9800998ecf8427e eyJhbGciOiJIUzI1NiJ9.e30.abc
¯\_(ツ)_/¯ :100: :flag-br: @john-doe u/someone r/python $x::CONST sip:user@host javascript:void(0) file-*.log <!--note--> Promise<void>
(%s) <%s> "%s" ({x}) <{x}> “{x}” «{x}» (^_^) :'( "({name})" (README.md) [{0}]
^\d+$ ^[a-z]+$ .*\.log [A-Z]{2,} \ref{fig:one} \textbf{x} ⌘C ⇧⌘S {x + y} {user ? user.name : "x"} $t(key, { "count": 2 }) {{ msg | upper }}
{{ "now" | date: "%Y" }} {% assign x = "y" | upcase %} {{ path('home') }} { $userName } { NUMBER($n) } {{else}} {!! $html !!} :white_check_mark:
--name-- §name§ %<name>s %<count>d %[1]s %[2]d %v %+v %T %'d %Ln ++name++ =name= !!name!! ..name.. ¬name¬ †name† 【name】 《name》 ⟦name⟧ [(name)]
US$%s %sKB %dpx %%ação%% @@preço@@ {n}–{m} {n}×{m} {0}°C %d°C @:{'key'} §name !!str s3://bucket/key 3.2e-4 1e-9 12°30' 5'10" ---name--- +name+ &name& ‹name› [[[name]]] { user.name }
(name)s (user_id)d name[] items[][id] \(user.name) ***NAME*** [%name] [$name] %-10s %+d %#x %08.3f %hhd %zu %*d %.*f %2$05d %1$@ {0:N2} {0,-10:F2} {name:O}
{{#name}} {{^name}} {{!name}} {{&name}} $tc('car',2) @:common.name @:(common.name) ${name:-none} %12% {name|upper} {=name=} <:name:123> <@!123> {n,date,short}
[NAME] (NAME) ?NAME? «NAME» *NAME* **NAME** *.name name/* //name// your-name YOUR-NAME \name _name my-app @[NAME] #[NAME] "[NAME]"
@android:string/ok @+id/name ?attr/color $!name $!{name} [name:first] /users/{id}/posts {n}…{m}
"""

# Each has spaces within.
SPACED_STYLES = ["{{ user name }}", "{ user name }", "%( name )s", "(( name ))", "(( user name ))", "<< x >>", "<< user name >>", "[[ user name ]]",
                 "[ name ]", "[% user name %]", "%% name %%", "{! user name !}", "$[ user name ]", "[: name :]", "%< name >s", "${ user name }",
                 "5 (2) (b)", 'git commit -m "fix the bug"', "npm install --save express", "SELECT name FROM users WHERE id = 5;",
                 "DELETE FROM sessions;", "(╯°□°)╯︵ ┻━┻", "<!-- a note -->", "<!DOCTYPE html>", '<xliff:g id="time">half past five</xliff:g>', "cat notes.txt | sort"]

# Fragments of programs.
FRAGMENTS = [
    "/* name */", "git push origin main", "git rebase -i HEAD~3", "docker run -it ubuntu bash", "rm -rf build", "yarn add react", "char **argv", "const char *name",
    "unsigned long long", "void (*fn)(int)", "int argc, char **argv", "for (int i = 0; i < n; i++)", "if (x == null)", "while (true)", "x => x + 1",
    "(a, b) => a + b", "lambda x: x + 1", "import numpy as np", "from os import path", "let x = 5;", 'const y = "a";', "return 0;", "this.state", "self.name",
    "dict[str, int]", "Vec<u8>", "y ?? 0", "a ? b : c", ".btn-primary", "@media (max-width: 600px)", "<T extends Foo>", 'printf("%d\\n", x)', ">=3.8,<4",
    "color: #fff;", "margin: 0 auto;", "background-color: rgba(0, 0, 0, 0.5);", "await f()", "new Date()", "n % 2 == 0", "a & b", "user:pass",
    'width="100%"', ".btn.btn-primary:hover", "make clean all", "async function load(x)",
]

# Numbers of clauses and figures.
REFERENCES = ["5(2)", "3(a)(ii)", "5(2)(b)", "12(1)(c)(iv)", "4.2(a)", "501(c)(3)", "[12]", "3(b)", "((name))", "<<x>>"]

CARRIERS = {
    EN_PT: ["Please open {} now.", "{} has sent you a message.", "The file could not be found: {}",
            "You have new mail from {}.", "We saved {} in the old house, and it is safe."],
    PT_EN: ["Por favor, abra {} agora.", "{} enviou uma mensagem.", "O arquivo não foi encontrado: {}",
            "Você tem correio novo de {}.", "Guardamos {} na casa velha, e está seguro."],
}

MESSAGE = """{count, plural,
  =0 {No files}
  one {# file}
  other {# files}
}"""


# Words that a model may lose where they stand in brackets or behind a colon.
NAMES = ["API", "Makefile", "FooBar", "HDMI", "USB-C", "XXI", "$1"]
NAME_CARRIERS = {
    EN_PT: ["The file could not be found: {}", "Click here ({}) to read more about {}, the best tool."],
    PT_EN: ["O arquivo não foi encontrado: {}", "Clique aqui ({}) para ler mais sobre {}, a melhor ferramenta."],
}


def styles():
    words = []
    for line in STYLES.strip().splitlines():
        rest = line
        for spaced in ("{{ name }}", "{ name }", "${ amount }", "{Name With Space}", "{{#if x}}", "{% url x %}", "{%- x -%}",
                       "<%= team %>", "<% end %>", "<?php echo $x; ?>", "{# note #}", "`a <b>`", ":ref:`the <guide>`", "{x + y}", '{user ? user.name : "x"}',
                       '$t(key, { "count": 2 })', "{{ msg | upper }}", '{{ "now" | date: "%Y" }}', '{% assign x = "y" | upcase %}',
                       "{{ path('home') }}", "{ $userName }", "{ NUMBER($n) }", "{!! $html !!}", "{ user.name }"):
            if spaced in rest:
                words.append(spaced)
                rest = rest.replace(spaced, "", 1)
        words += rest.split()
    return words + SPACED_STYLES + FRAGMENTS + REFERENCES


def translate(daemon, texts, **fields):
    response = daemon.translation.Translate(translate_request(*texts, **fields), timeout=PATIENCE)
    return [item.text for item in response.translations]


@pytest.mark.parametrize("model", [EN_PT, PT_EN], ids=["en-pt", "pt-en"])
def test_each_style_of_placeholders_is_kept(daemon, model):
    names = styles()
    assert len(names) >= 150
    cases = [(name, carrier.replace("{}", name, 1)) for name in names for carrier in CARRIERS[model]]
    translated = translate(daemon, [text for _, text in cases], model=model)
    damaged = [(text, found) for (name, text), found in zip(cases, translated)
               if found.count(name) != text.count(name)]
    assert damaged == []


@pytest.mark.parametrize("model", [EN_PT, PT_EN], ids=["en-pt", "pt-en"])
def test_names_in_brackets_and_behind_colons_are_kept(daemon, model):
    texts = [carrier.replace("{}", name) for name in NAMES for carrier in NAME_CARRIERS[model]]
    names = [name for name in NAMES for _ in NAME_CARRIERS[model]]
    damaged = [(text, found) for name, text, found in zip(names, texts, translate(daemon, texts, model=model))
               if found.count(name) != text.count(name) or found.count("(") != text.count("(")]
    assert damaged == []


@pytest.mark.parametrize(("source", "kept"), [
    ("Save &As...", "&"),
    ("Are you sure?\\n\\nThis cannot be undone.", "?\\n\\n"),
    ("I am happy to announce\\Nthat this is new.", "\\N"),
    ("He said \\\"yes\\\" to the man.", "\\\""),
    ("Name:      ______ Date:     ______", ":      ______ "),
    ("Chapter one ........................ 12", " ........................ 12"),
    ("The house\tThe car\tThe dog", "\t"),
    ("Item                Price", "                "),
    ("It is 10\u00a0km away.", "10\u00a0km"),
    ("The house\u3000The car", "\u3000"),
    ("The \u200fred\u200e house", "\u200f"),
    ("\u266a I heard the music \u266a", "\u266a "),
    ("[Music] [Laughter]", "["),
    ("404 - Page not found", "404 - "),
    ("(none)", "("),
    ("\"Untitled\"", "\""),
    ("title=The old house", "title="),
    ("{\\an8}Hello world", "{\\an8}"),
    ("See the note\u00b9 here.", "\u00b9"),
    ("\ufeffThe house is red.", "\ufeff"),
    ("{% if user.is_active %}Welcome back!{% else %}Please log in.{% endif %}", "!{% else %}"),
])
def test_what_stands_between_sentences_is_kept(daemon, source, kept):
    [found] = translate(daemon, [source], model=EN_PT)
    assert found.count(kept) == source.count(kept), found
    assert found != source


@pytest.mark.parametrize(("model", "source", "expected"), [
    (PT_EN, "Abrir {0}...", "Open {0}..."),
    (PT_EN, "Abrir -{0}", "Open -{0}"),
    (EN_PT, "Save======Open the door", "Salvar======Abra a porta"),
    (PT_EN, "A casa\n- Meu amigo está aqui.\n# A casa", "The house\n- My friend is here.\n# The house"),
])
def test_signs_keep_their_places(daemon, model, source, expected):
    assert translate(daemon, [source], model=model)[0].lower() == expected.lower()


def test_branches_of_a_message_are_translated(daemon):
    [found] = translate(daemon, [MESSAGE], model=EN_PT)
    lines = found.splitlines()
    assert lines[0] == "{count, plural,"
    assert lines[1].startswith("  =0 {") and lines[1].endswith("}") and "files" not in lines[1]
    assert lines[2].startswith("  one {# ") and "file" not in lines[2]
    assert lines[3].startswith("  other {# ") and "files" not in lines[3]
    assert lines[4] == "}"


@pytest.mark.parametrize(("markup", "kept"), [
    ("<b>10%</b>", "10%</b>"),
    ("<b>List&lt;String&gt;</b>", "List&lt;String&gt;</b>"),
    ("<i>Map&lt;String, Integer&gt;</i>", "Map&lt;String, Integer&gt;</i>"),
    ("<b>$obj-&gt;getName()</b>", "$obj-&gt;getName()</b>"),
    ("<a href=\"/x\">&amp;nbsp;</a>", "&amp;nbsp;</a>"),
    ("<del>$10</del> <ins>$5</ins>", "$10</del> <ins>"),
    ("<b>{price}</b>", "<b>{price}</b>"),
    ("[[name]]", "[[name]]"),
])
def test_styles_stay_within_their_tags(daemon, markup, kept):
    texts = [f"<p>The price of the house is {markup}.</p>", f"<li>Please open {markup} now.</li>"]
    found = translate(daemon, texts, model=EN_PT, format=translation.TEXT_FORMAT_HTML)
    assert [text.count(kept) for text in found] == [1, 1], found
