"""Generated texts in English and Portuguese whose translations can be checked without a reference: long sentences whose clauses each name
something, and numbers in sentences. Each generator gives the same texts every time."""

import dataclasses
import random
import re

# Things with the words that either language may use for them; the first is the one that sources use. Portuguese sources need the article.
THINGS = [
    ("beach", "a praia"), ("river", "o rio"), ("castle", "o castelo"), ("church", "a igreja"), ("library", "a biblioteca"),
    ("museum", "o museu"), ("market", "o mercado"), ("bridge", "a ponte"), ("garden|yard", "o jardim"), ("school", "a escola"),
    ("hospital", "o hospital"), ("airport", "o aeroporto"), ("park", "o parque"), ("theatre|theater", "o teatro"), ("hotel", "o hotel"),
    ("restaurant", "o restaurante"), ("island", "a ilha"), ("mountain", "a montanha"), ("forest", "a floresta|mata"), ("lake", "o lago"),
    ("village|town", "a aldeia|vila|povoado"), ("tower", "a torre"), ("palace", "o palácio"),
    ("university|college", "a universidade|faculdade"),
    ("factory|plant", "a fábrica"), ("farm", "a fazenda|quinta"), ("bakery", "a padaria|confeitaria"), ("kitchen", "a cozinha"),
    ("window", "a janela"), ("door", "a porta"), ("table", "a mesa"), ("chair", "a cadeira"),
    ("lamp|light", "a lâmpada|luminária|candeeiro|abajur"),
    ("mirror", "o espelho"), ("clock|watch", "o relógio"), ("piano", "o piano"), ("guitar", "a guitarra|violão"), ("violin", "o violino"),
    ("book", "o livro"), ("newspaper|paper", "o jornal"), ("letter|menu|card|chart|map", "a carta|letra"), ("pencil", "o lápis"),
    ("camera|chamber", "a câmera|câmara|máquina"),
    ("bicycle|bike", "a bicicleta|moto"), ("car", "o carro"), ("train", "o trem|comboio"), ("ship|boat|vessel", "o navio|barco"),
    ("horse", "o cavalo"),
    ("dog", "o cachorro|cão"), ("cat", "o gato"), ("bird", "o pássaro|ave"), ("fish", "o peixe"), ("apple", "a maçã"), ("bread", "o pão"),
    ("cheese", "o queijo"), ("butter", "a manteiga"), ("milk", "o leite"), ("coffee|cafe|café", "o café"), ("sugar", "o açúcar"),
    ("rice", "o arroz"), ("tomato", "o tomate"), ("potato", "a batata"), ("onion", "a cebola"), ("garlic", "o alho"),
    ("lemon|lime", "o limão|lima"), ("banana", "a banana"), ("soap", "o sabão|sabonete"), ("hat", "o chapéu"), ("shirt", "a camisa"),
    ("key", "a chave|tecla"),
]

CLAUSES = {
    "en": ["the tenant pays the rent", "the bank sends a letter each month", "the owner repairs the roof", "the company delivers the goods",
           "the court in Lisbon decides all disputes", "the supplier keeps the records", "the buyer may inspect the machines",
           "the parties share the costs equally", "the insurer covers the damage", "the employee returns the equipment",
           "the city grants the permit", "the engineer signs the report"],
    "pt": ["o inquilino paga o aluguel", "o banco envia uma carta todos os meses", "o proprietário conserta o telhado",
           "a empresa entrega as mercadorias", "o tribunal de Lisboa decide todas as disputas", "o fornecedor guarda os registros",
           "o comprador pode inspecionar as máquinas", "as partes dividem os custos igualmente", "a seguradora cobre os danos",
           "o funcionário devolve o equipamento", "a prefeitura concede a licença", "o engenheiro assina o relatório"],
}
SPEECH = {
    "en": ["we went to see the {}", "we saw the {} and it was really nice", "my brother told me about the {}",
           "nobody could find the {} at first", "they showed us the {} again", "I really liked the {}", "she took a picture of the {}"],
    "pt": ["a gente foi ver {}", "vimos {} e foi muito bonito", "meu irmão me falou sobre {}", "ninguém conseguia achar {} no começo",
           "eles mostraram {} de novo", "eu gostei muito de ver {}", "ela tirou uma foto mostrando {}"],
}
JOINTS = {"en": [" and then ", " and ", " but ", " because ", " so "], "pt": [" e depois ", " e ", " mas ", " porque ", " então "]}


@dataclasses.dataclass(frozen=True)
class LongSentence:
    kind: str
    text: str
    parts: tuple[str, ...]   # a regular expression for each clause or item, of which the translation must have a match


def _word(thing: tuple[str, str], language: str) -> str:
    return (thing[0] if language == "en" else thing[1]).split("|")[0]


def _pattern(thing: tuple[str, str], language: str) -> str:
    """Whatever the other language may call the thing, in any number."""
    words = (thing[1].partition(" ")[2] if language == "en" else thing[0]).split("|")
    return r"(?i)\b(?:" + "|".join(word[:-1] if len(word) > 3 and word[-1] in "oaeym" else word for word in words) + ")"


def _contract(chance: random.Random, language: str, words: int) -> LongSentence:
    under, start = {"en": ("under article", "In this agreement "), "pt": ("nos termos do artigo", "Neste contrato ")}[language]
    joint = chance.choice({"en": [", and ", "; ", ", "], "pt": [", e ", "; ", ", "]}[language])
    first, clauses = chance.randrange(100, 800), []
    while len((start + joint.join(clauses)).split()) < words:
        clauses.append(f"{chance.choice(CLAUSES[language])} {under} {first + len(clauses)}")
    numbers = tuple(rf"\b{first + i}(?!\d)" for i in range(len(clauses)))
    return LongSentence("contract", start + joint.join(clauses) + ".", numbers)


def _transcript(chance: random.Random, language: str, words: int) -> LongSentence:
    things, text, parts = chance.sample(THINGS, len(THINGS)), {"en": "so yesterday ", "pt": "então ontem "}[language], []
    while len(text.split()) < words and things:
        thing = things.pop()
        if parts:
            text += chance.choice(JOINTS[language])
        text += chance.choice(SPEECH[language]).format(_word(thing, language))
        parts.append(_pattern(thing, language))
    return LongSentence("transcript", text, tuple(parts))


def _list(chance: random.Random, language: str, words: int) -> LongSentence:
    things = chance.sample(THINGS, min(max(words // 2, 20), 50))
    items = [_word(thing, language) for thing in things]
    if language == "en":
        items = [f"a {item}" for item in items]
    start = {"en": "In the picture one can see ", "pt": "Na foto é possível ver "}[language]
    return LongSentence("list", start + ", ".join(items) + ".", tuple(_pattern(thing, language) for thing in things))


def long_sentences(language: str, count: int) -> list[LongSentence]:
    """Sentences of 40 to 400 words: contracts, speech without stops, lists."""
    chance = random.Random(f"long {language}")
    kinds = [_contract, _transcript, _list]
    return [kinds[i % len(kinds)](chance, language, 40 + 360 * i // max(count - 1, 1)) for i in range(count)]


def loops(text: str) -> bool:
    """Whether the same words come three times in a row."""
    return re.search(r"(?i)(\b\w[^.]{0,60}?\W+)\1\1", text + " ") is not None or re.search(r"([,.;]\s*){4}", text) is not None


NUMBER_CARRIERS = {
    "en": ["{}", "Price: {}", "The total was {} tons.", "The plant emitted {} kg of CO2 this year.", "They sold {} tickets last week.",
           "Of {} people, half came back the next day.", "It cost ${} in the end."],
    "pt": ["{}", "Preço: {}", "O total foi de {} toneladas.", "A fábrica emitiu {} kg de CO2 este ano.",
           "Eles venderam {} ingressos na semana passada.", "De {} pessoas, metade voltou no dia seguinte.", "Custou R$ {} no final."],
}


def numbers(count: int = 70) -> list[tuple[str, str]]:
    """Values as English and as Portuguese write them."""
    chance, values = random.Random("numbers"), []
    for i in range(count):
        kind = i % 7
        if kind == 0:
            english = str(chance.randrange(100, 99999))
        elif kind in (1, 2):
            english = f"{chance.randrange(1000, 10 ** chance.randrange(4, 10)):,}"
        elif kind in (3, 4):
            english = f"{chance.randrange(1000, 9999999) + chance.randrange(100) / 100:,.2f}"
        elif kind == 5:
            english = f"{chance.randrange(1, 999)}.{chance.randrange(10, 100)}"
        else:
            english = f"{chance.randrange(1, 9999):,}.{chance.randrange(100, 1000)}"
        values.append((english, english.translate(str.maketrans(",.", ".,"))))
    return values


def numbers_in(text: str) -> list[str]:
    """The written numbers of a text, but for the 2 of CO2."""
    return re.findall(r"\d(?:[\d.,]*\d)?", text.replace("CO2", ""))


def _words(text: str) -> list[str]:
    return re.findall(r"[\w'-]+", text.lower())


def _doubled(text: str) -> bool:
    words = _words(text)
    return any(a == b for a, b in zip(words, words[1:])) or (len(words) > 1 and words[0] in words[1:] and "," in text)


# English writes these with a capital wherever they stand.
ALWAYS_CAPITAL = {"i", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march", "april",
                  "may", "june", "july", "august", "september", "october", "november", "december", "english", "portuguese", "brazilian",
                  "spanish", "french", "german"}


def flaws(source: str, translation: str) -> list[str]:
    """What anybody sees to be wrong with the translation of a short string, without knowing the language."""
    found = []
    if not translation.strip():
        found.append("empty")
        return found
    if _doubled(translation) and not _doubled(source):
        found.append("doubled words")
    if any(translation.count(c) != source.count(c) for c in "()[]{}"):
        found.append("brackets")
    if re.search(r"[.,;:!?…]*$", translation).group() != re.search(r"[.,;:!?…]*$", source).group():
        found.append("end mark")
    if re.search(r" (-|\||'s)( |$)", translation) and not re.search(r" (-|\||'s)( |$)", source):
        found.append("stray sign")
    a, b = source[0], translation[0]
    if a.isalpha() and b.isalpha() and a.islower() != b.islower() and not (a.islower() and _words(translation)[0] in ALWAYS_CAPITAL):
        found.append("first letter")
    return found


# Signs between the items of a list in one line.
SEPARATORS = [" | ", " / ", " • ", " · ", " - ", " > ", " → ", " » ", "|", ";", " + ", " :: ", " ~ ", " ▸ ", " || ", " -> ", " => ",
              " <> ", " // ", " ● ", " ★ ", " = ", "→", "+", "、"]


def lists(language):
    """Short items, in small letters and with capitals."""
    words = {"en": [("red", "green", "blue", "yellow"), ("bread", "milk", "eggs", "cheese", "butter"), ("Home", "About us", "Contact", "Login"),
                    ("Save", "Open", "Close", "Print", "Help"), ("Friday", "Close", "Contact", "No", "Cancel")],
             "pt": [("vermelho", "verde", "azul", "amarelo"), ("pão", "leite", "ovos", "queijo", "manteiga"), ("Início", "Sobre nós", "Contato", "Entrar"),
                    ("Salvar", "Abrir", "Fechar", "Imprimir", "Ajuda"), ("Sobre", "Copiar", "Não", "Editar")]}
    return words[language]
