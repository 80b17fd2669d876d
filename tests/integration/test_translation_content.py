"""Nothing vanishes from a translation without a word: long sentences, numbers and short strings, from generated batteries. The gate takes a
part of the long sentences; MILLRACE_LONG_SENTENCES=300 takes that many in each direction."""

import os
import re

import pytest
from wire import translation_battery as battery
from wire.paths import EN_PT, PT_EN, ROOT
from wire.requests import PATIENCE, translate_request
from wire.stubs import translation

LONG_SENTENCES = int(os.environ.get("MILLRACE_LONG_SENTENCES", "36"))
DIRECTIONS = pytest.mark.parametrize("model, language", [(EN_PT, "en"), (PT_EN, "pt")], ids=["en-pt", "pt-en"])


def translate(daemon, texts, model, **fields):
    """Pairs of translation and what it names as lost."""
    texts, pairs = list(texts), []
    for first in range(0, len(texts), 30):   # no more characters than one call may have
        response = daemon.translation.Translate(translate_request(*texts[first:first + 30], model=model, **fields), timeout=PATIENCE)
        pairs += [(item.text, list(item.lost)) for item in response.translations]
    return pairs


@DIRECTIONS
def test_no_clause_of_a_long_sentence_vanishes_in_silence(daemon, model, language):
    sentences = battery.long_sentences(language, LONG_SENTENCES)
    for sentence, (got, lost) in zip(sentences, translate(daemon, [s.text for s in sentences], model), strict=True):
        absent = [part for part in sentence.parts if not re.search(part, got)]
        # What is named stands in the source's words.
        assert len(absent) <= sum(max(1, len(re.findall(r"[,;]| and | e ", named))) for named in lost), (sentence.text, got, lost, absent)
        assert not battery.loops(got), (sentence.text, got)
        # Where a sentence was cut, it reads on.
        assert not re.search(r"[.!?] [a-zà-ú]|[,;] (?!Lisb)[A-ZÀ-Ú][a-z]", got), (sentence.text, got)


@DIRECTIONS
def test_a_stream_loses_no_more_than_a_whole_translation(daemon, model, language):
    texts = [s.text for s in battery.long_sentences(language, 24)]
    streamed = [""] * len(texts)
    for piece in daemon.translation.StreamTranslate(translate_request(*texts, model=model, partial=True), timeout=PATIENCE):
        streamed[piece.text_index] += piece.text
        assert not piece.lost, (texts[piece.text_index], piece.lost)
    assert streamed == [got for got, _ in translate(daemon, texts, model)]


@DIRECTIONS
def test_a_number_comes_wholly_in_one_format_and_alone(daemon, model, language):
    values, wrong = battery.numbers(), []
    for carrier in battery.NUMBER_CARRIERS[language]:
        texts = [carrier.format(value[0 if language == "en" else 1]) for value in values]
        for value, text, (got, _) in zip(values, texts, translate(daemon, texts, model), strict=True):
            written = battery.numbers_in(got)
            if len(written) != 1 or written[0] not in value or "(" in got:
                wrong.append((text, got))
    assert not wrong


@DIRECTIONS
def test_a_short_string_has_the_shape_of_its_source(daemon, model, language):
    texts = (ROOT / "tests" / "data" / "translation" / f"interface.{language}.txt").read_text().splitlines()
    assert len(texts) > 250
    translated = translate(daemon, texts, model)
    assert [(text, got, battery.flaws(text, got), lost) for text, (got, lost) in zip(texts, translated, strict=True)
            if battery.flaws(text, got) or lost] == []


@pytest.mark.parametrize("model, words", [
    (EN_PT, {"comma": "vírgula", "inbox": "caixa de entrada", "badger": "texugo", "dandelion": "dente-de-leão", "Firefox": "Firefox",
             "Messages": "Mensagens", "Forward": "Encaminhar", "Slack": "Slack", "newsletter": "newsletter",
             "Failed": "Falhou", "Failed!": "Falhou!", "Mute": "Silenciar", "Redo": "Refazer", "Copied!": "Copiado!", "Refresh": "Atualizar",
             "Rewind": "Rebobinar", "Shuffle": "Embaralhar", "Split": "Dividir"}),
    (PT_EN, {"anzol": "hook", "sorvete": "ice cream", "joaninha": "ladybug", "beco": "alley", "verruga": "wart",
             "Pausar": "Pause", "Retomar": "Resume", "Pausado": "Paused", "Esgotado": "Exhausted", "celular": "cell phone"}),
], ids=["en-pt", "pt-en"])
def test_a_noun_alone_is_translated_as_in_a_sentence(daemon, model, words):
    assert dict(zip(words, [got for got, _ in translate(daemon, words, model)], strict=True)) == words


@pytest.mark.parametrize("model, texts", [
    (PT_EN, {"Vazio": "Empty", "[Vazio]": "[Empty]", "✓ Salvo": "✓ Saved", "Sujeira": "Dirt", "Excluído": "Excluded", "Cancelar": "Cancel", "Excluir (3)": "Delete (3)",
             "Escolha o(s) arquivo(s) e a(s) pasta(s) para excluir.": "Choose the file(s) and folder(s) to delete."}),
    (EN_PT, {"[Empty]": "[Vazio]", "✓ Saved": "✓ Salvo", "Cancel": "Cancelar", "*required": "*necessário",
             "Choose the file(s) and folder(s) to delete.": "Escolha o arquivo(s) e a pasta(s) para excluir.",
             "The house¹ is red and the car² is blue.": "A casa¹ é vermelha e o carro² é azul.",
             '"The house","The car",12': '"A casa","O carro",12'}),
], ids=["pt-en", "en-pt"])
def test_words_in_brackets_behind_signs_and_with_endings_are_translated(daemon, model, texts):
    assert dict(zip(texts, [got for got, _ in translate(daemon, texts, model)], strict=True)) == texts


@pytest.mark.parametrize("model, text, expected, fields", [
    (PT_EN, "2.200.112", "2,200,112", {}),
    (EN_PT, "$3.50", "$3,50", {}),
    (PT_EN, "4º", "4th", {}),
    (PT_EN, "100º", "100th", {}),
    (EN_PT, "5$", "5$", {}),
    (PT_EN, "5 estrelas", "5 stars", {}),
    (EN_PT, "12:30", "12:30", {}),
    (EN_PT, "2024-05-01", "2024-05-01", {}),
    (EN_PT, "| Item | Price |\n|---|---|\n| Bread | 1,000.50 |", "1.000,50", {"format": translation.TEXT_FORMAT_MARKDOWN}),
    (PT_EN, "<s>R$&nbsp;1.234,56</s>", "<s>R$&nbsp;1,234.56</s>", {"format": translation.TEXT_FORMAT_HTML}),
    (PT_EN, "<p>O livro custa R$&nbsp;1.234,56 hoje.</p>", "R$&nbsp;1,234.56", {"format": translation.TEXT_FORMAT_HTML}),
], ids=lambda value: value[:16] if isinstance(value, str) else None)
def test_a_sum_keeps_its_value_and_its_sign(daemon, model, text, expected, fields):
    [(got, lost)] = translate(daemon, [text], model, **fields)
    assert expected in got and not lost
    if not fields:
        assert got == expected


@pytest.mark.parametrize("model, texts", [
    (EN_PT, {"21st": "21º", "250th": "250º", "1,000th": "1.000º", "Set the timer to 21st and press start.": "21º",
             "The backup starts at 23:59:59 every night.": "23:59:59", "They live at 23:59:59 and work in the city.": "23:59:59"}),
    (PT_EN, {"21º": "21st", "O 112º filho deles nasceu.": "112th", "Total 100º itens": "100th",
             "Medimos 10° na semana passada e anotamos.": "10°", "De acordo com o relatório, 12°30' foi alcançado na primavera.": "12°30'",
             "Mudou de 3.2e-4 ontem.": "3.2e-4"}),
], ids=["en-pt", "pt-en"])
def test_marks_of_ordinals_degrees_and_seconds_stay_with_their_numbers(daemon, model, texts):
    for (text, expected), (got, lost) in zip(texts.items(), translate(daemon, texts, model), strict=True):
        assert expected in got and not lost, (text, got, lost)


@pytest.mark.parametrize("model, text, numbers", [
    (PT_EN, "10-15 é o que eles pediram.", ["10", "15"]),
    (EN_PT, "It happened on 5 ft 10 in in Lisbon.", ["5", "10"]),
    (EN_PT, "No 7.", ["7"]),
])
def test_a_short_number_without_a_word_for_it_stays(daemon, model, text, numbers):
    [(got, lost)] = translate(daemon, [text], model)
    assert re.findall(r"\d+", got) == numbers and not lost, got


@pytest.mark.parametrize("model, texts", [
    (EN_PT, {"Bye": "Tchau", "Dismiss": "Dispensar", "Like": "Curtir", "DISMISS": "DISPENSAR", "Loading...": "Carregando...", "Thank you!": "Obrigado!",
             "bye": "tchau", "Footer": "Rodapé", "Voicemail": "Correio de voz"}),
    (PT_EN, {"Tchau": "Bye", "Recibo": "Receipt", "Colar": "Paste", "Caixa de entrada": "Inbox", "Sim:": "Yes:", "aeroporto": "airport"}),
], ids=["en-pt", "pt-en"])
def test_words_of_interfaces_are_those_of_interfaces(daemon, model, texts):
    assert dict(zip(texts, [got for got, _ in translate(daemon, texts, model)], strict=True)) == texts
    marked = [f"<button>{text}</button>" for text in texts]
    html = [got for got, _ in translate(daemon, marked, model, format=translation.TEXT_FORMAT_HTML)]
    assert html == [f"<button>{expected}</button>" for expected in texts.values()]


@pytest.mark.parametrize("model, text, expected", [
    (EN_PT, "'Single quotes' are used here.", "^'.*' "),
    (EN_PT, "Is it 100 BC?", r"\?$"),
    (EN_PT, "e.g. this, i.e. that", "^por exemplo"),
])
def test_a_stream_ends_and_quotes_as_a_whole_translation(daemon, model, text, expected):
    [(got, _)] = translate(daemon, [text], model)
    pieces = daemon.translation.StreamTranslate(translate_request(text, model=model, partial=True), timeout=PATIENCE)
    assert "".join(piece.text for piece in pieces) == got
    assert re.search(expected, got), got


@DIRECTIONS
def test_a_list_in_one_line_keeps_its_items(daemon, model, language):
    lists = battery.lists(language)
    texts = [separator.join(items) for separator in battery.SEPARATORS for items in lists]
    alone = {items: dict(zip(items, [got for got, _ in translate(daemon, items, model)], strict=True)) for items in lists}
    for (separator, items), text, (got, _) in zip([(s, i) for s in battery.SEPARATORS for i in lists], texts, translate(daemon, texts, model), strict=True):
        assert got == separator.join(alone[items][item] for item in items), (text, got)


@pytest.mark.parametrize("model, texts", [
    (EN_PT, {"You have {n, plural, one {# file} other {# files}}.":
             "{n, plural, one {Você tem # arquivo.} other {Você tem # arquivos.}}",
             "{count, plural, one {# item} other {# items}} selected":
             "{count, plural, one {# item selecionado} other {# itens selecionados}}"}),
    (PT_EN, {"Há {n, plural, one {# mensagem} other {# mensagens}} na caixa.":
             "{n, plural, one {There is # message in the box.} other {There are # messages in the box.}}"}),
], ids=["en-pt", "pt-en"])
def test_branches_of_a_message_take_the_sentence_in(daemon, model, texts):
    assert dict(zip(texts, [got for got, _ in translate(daemon, list(texts), model)], strict=True)) == texts


@DIRECTIONS
def test_words_side_by_side_are_all_translated(daemon, model, language):
    texts = {"en": ["red green blue yellow black white", "yellow dog large green small bread spoon blue"],
             "pt": ["vermelho verde azul amarelo preto branco"]}[language]
    for text, (got, lost) in zip(texts, translate(daemon, texts, model), strict=True):
        assert len(got.split()) >= len(text.split()) and not lost, (text, got)


@pytest.mark.parametrize("model, texts", [
    (EN_PT, {"The house.": "A casa.", "The red car.": "O carro vermelho."}),
    (PT_EN, {"A casa.": "The house.", "Meu carro novo.": "My new car.", "Esta cidade.": "This city."}),
], ids=["en-pt", "pt-en"])
def test_a_few_words_with_a_stop_become_no_sentence(daemon, model, texts):
    assert dict(zip(texts, [got for got, _ in translate(daemon, texts, model)], strict=True)) == texts


@pytest.mark.parametrize("name", ["FooBar", "F5", "i18n.key.name", "x++"])
def test_a_name_that_the_model_loses_is_put_back(daemon, name):
    texts = [f"{name} não foi encontrado.", f"O arquivo {name} não foi encontrado."]
    assert all(name in got for got, _ in translate(daemon, texts, PT_EN))


def test_no_adjective_of_a_subject_vanishes(daemon):
    """The model drops it for some nouns, "house" above all."""
    adjectives = {"red": "vermelh", "white": "branc", "black": "pret|negr", "small": "pequen", "dirty": "suj", "heavy": "pesad", "blue": "azu"}
    nouns = {"house": "cas", "car": "carro", "table": "mesa", "door": "porta"}
    texts = {f"The {adjective} {noun} is {rest}.": (adjectives[adjective], nouns[noun])
             for adjective in adjectives for noun in nouns for rest in ("big", "here", "famous")}
    marked = [text.replace("The ", "The <b>", 1).replace(" is", "</b> is") for text in texts]
    wrong = [(text, got) for (text, wanted), (got, _) in zip(texts.items(), translate(daemon, texts, EN_PT), strict=True)
             if not all(re.search(part, got.lower()) for part in wanted)]
    wrong += [(text, got) for text, wanted, (got, _) in zip(marked, texts.values(), translate(daemon, marked, EN_PT, format=translation.TEXT_FORMAT_HTML), strict=True)
              if not all(re.search(part, re.sub("<[^>]*>", "", got).lower()) for part in wanted) or not re.search("<b>.* .*</b>", got) or re.search(r"(é|está|fica)</b>", got)]
    assert not wrong


def test_a_stream_puts_a_lost_word_of_the_subject_back(daemon):
    """Some of its sentences lose the adjective, and the others are sent piece by piece."""
    texts = [f"The {adjective} house is {rest}." for adjective in ("red", "white", "black", "small") for rest in ("big", "here", "famous", "very old")]
    streams = [[part.text for part in daemon.translation.StreamTranslate(translate_request(text, partial=True), timeout=PATIENCE)] for text in texts]
    assert ["".join(parts) for parts in streams] == [got for got, _ in translate(daemon, texts, EN_PT)]
    assert any(len(parts) > 1 for parts in streams)


@pytest.mark.parametrize("text, expected", [
    ("Search\u2026", "Pesquisar\u2026"),
    ("404 Not Found", "404 N\u00e3o encontrado"),
    ("\u00a9 2024 Acme Trading Inc.", "\u00a9 2024 Acme Trading Inc."),
    ("API key", "Chave API"),
    ("File(s)", "Arquivo(s)"),
    ("\u2699 Settings", "\u2699 Configura\u00e7\u00f5es"),
    ("Downloads", "Downloads"),
    ("Thanks", "Obrigado"),
    ("(none)", "(nenhum)"),
    ("404 - Page not found", "404 - P\u00e1gina n\u00e3o encontrada"),
    ("Save _As\u2026", "Salvar _como\u2026"),
    ("Don&#39;t ask again", "Não pergunte novamente"),
    ("&lt; Back", "&lt; Voltar"),
    ("*Required", "*Obrigatório"),
    ("JOHN: Come in!", "JOHN: Venha!"),
    ("...but not so soon.", "...mas não tão cedo."),
])
def test_strings_of_menus_and_messages_keep_their_marks(daemon, text, expected):
    [(got, lost)] = translate(daemon, [text], EN_PT)
    assert (got, lost) == (expected, [])


@pytest.mark.parametrize("model, texts", [
    (PT_EN, {"Política de privacidade": "Privacy Policy", "Contato": "Contact", "Obrigado": "Thank you", "Tente novamente": "Try again"}),
    (EN_PT, {"Today": "Hoje", "About us": "Sobre nós"}),
], ids=["pt-en", "en-pt"])
def test_what_only_one_reading_of_a_short_text_has_is_left_out(daemon, model, texts):
    assert dict(zip(texts, [got for got, _ in translate(daemon, texts, model)], strict=True)) == texts


@pytest.mark.parametrize("model, texts", [
    (EN_PT, {"The 21st century began on January 1, 2001.": r"^O século XXI ", "In the 19th century, few people could read.": r"século XIX\b",
             "The 16th and 17th centuries": r"XVI e XVII", "The server will be down tonight.": r"indispon", "Your order no. 4521": r"número",
             "Kind regards,": r"^Atenciosamente,$", "3rd": r"^3º$", "Best before 12/2025": r"12/2025"}),
    (PT_EN, {"Aberto das 10h às 18h.": r"10:00 to 18:00", "Ligue das 9h às 17h30.": r"9:00 to 17:30", "Há 5 min ele chegou.": r"^5 minutes ago",
             "De 2ª a 6ª": r"Monday to Friday", "Rua das Flores, nº 123, apto. 45": r"apartment 45", "Obs.: a porta fecha às 20h.": r"^Note:",
             "a) vermelho b) verde c) azul": r"^a\) red b\) green c\) blue$", "Atenciosamente,": r"^Sincerely,$",
             "Pagar com Pix": r"^Pay with Pix$", "Lavar a louça": r"^Wash the dishes$", "Comprar leite": r"^Buy milk$", "Instalar": r"^Install$"}),
], ids=["en-pt", "pt-en"])
def test_phrases_are_read_as_people_do(daemon, model, texts):
    wrong = [(text, got) for (text, expected), (got, _) in zip(texts.items(), translate(daemon, texts, model), strict=True) if not re.search(expected, got)]
    assert wrong == []


def test_an_ellipsis_of_one_character_is_set_aside_as_three_stops_are(daemon):
    words = ["Open", "Save", "Edit", "Print", "Import", "Find", "New", "Loading more"]
    dots = [got for got, _ in translate(daemon, [f"{word}..." for word in words], EN_PT)]
    assert [got for got, _ in translate(daemon, [f"{word}\u2026" for word in words], EN_PT)] == [
        got.replace("...", "\u2026") for got in dots]


@pytest.mark.parametrize("model, texts", [
    (EN_PT, {"Cu&t": "&Recortar", "&Open...": "&Abrir...", "_Quit": "_Sair", "« Back": "« Voltar"}),
    (PT_EN, {"Sai&r": "&Exit", "_Arquivo": "_File", "« Voltar": "« Back", "Nova janela (Ctrl+N)": "New Window (Ctrl+N)"}),
], ids=["en-pt", "pt-en"])
def test_a_label_with_a_key_or_a_sign_is_read_like_one_without(daemon, model, texts):
    assert dict(zip(texts, [got for got, _ in translate(daemon, texts, model)], strict=True)) == texts


@pytest.mark.parametrize("text, expected", [
    ("Country: United States", "País: Estados Unidos da América"),
    ("Note:this", "Nota:isso"),
    ("Good morning😀how are you?", "Bom dia😀como você está?"),
    ("first.second", "first.second"),
])
def test_neither_side_of_a_sign_is_lost(daemon, text, expected):
    [(got, lost)] = translate(daemon, [text], EN_PT)
    assert (got, lost) == (expected, [])


@pytest.mark.parametrize("model, texts", [
    (EN_PT, {"City: New York": "Cidade: Nova Iorque", "State: California": "Estado: Califórnia", "Name: John Smith": "Nome: John Smith", "Time:12:30": "Tempo:12:30",
             "City/Town": "Cidade/Município", "From: Boston": "De: Boston"}),
    (PT_EN, {"País: Brasil": "Country: Brazil", "Cidade: São Paulo": "City: São Paulo", "Autor: Machado de Assis": "Author: Machado de Assis"}),
], ids=["en-pt", "pt-en"])
def test_what_a_label_names_becomes_no_other(daemon, model, texts):
    assert dict(zip(texts, [got for got, _ in translate(daemon, texts, model)], strict=True)) == texts


@pytest.mark.parametrize("model, texts", [
    (EN_PT, {"Order summary": "Resumo do pedido", "Keep me signed in": "Manter-me conectado", "Sign in with Google": "Iniciar sessão com Google"}),
    (PT_EN, {"Pular para o conteúdo": "Skip to content", "A página não foi encontrada.": "The page was not found.", "O arquivo não foi encontrado": "The file was not found",
             "O link não foi encontrado.": "The link was not found.", "O documento não foi encontrado": "The document was not found",
             "O jogo não foi encontrado": "The game was not found", "Não encontrado": "Not found", "Privacidade": "Privacy"}),
], ids=["en-pt", "pt-en"])
def test_sentences_of_interfaces_are_those_of_interfaces(daemon, model, texts):
    assert dict(zip(texts, [got for got, _ in translate(daemon, texts, model)], strict=True)) == texts
    streams = [[part.text for part in daemon.translation.StreamTranslate(translate_request(text, model=model, partial=True), timeout=PATIENCE)] for text in texts]
    assert ["".join(parts) for parts in streams] == list(texts.values())


@pytest.mark.parametrize("text, expected", [
    ("<li><a href='/'>Done</a></li>", "<li><a href='/'>Concluído</a></li>"),
    ("<a href=1>One</a><a href=2>Two</a>", "<a href=1>Um</a><a href=2>Dois</a>"),
    ("<a>Home</a> <a>About us</a> <a>Contact</a>", "<a>Página inicial</a> <a>Sobre nós</a> <a>Contacto</a>"),
])
def test_elements_side_by_side_are_words_of_their_own(daemon, text, expected):
    [(got, lost)] = translate(daemon, [text], EN_PT, format=translation.TEXT_FORMAT_HTML)
    assert (got, lost) == (expected, [])
