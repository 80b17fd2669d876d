"""BCP 47 tags of the languages that multilingual models name in their own ways: eng_Latn, __en__, >>eng<<."""

from collections.abc import Iterable

from .package import ConvertError

# ISO 639-3 to the two letters that BCP 47 prefers.
_SHORT = dict(pair.split(":") for pair in """
afr:af aka:ak amh:am arb:ar ara:ar asm:as ast:ast aze:az azj:az bak:ba bam:bm bel:be ben:bn bod:bo bos:bs bul:bg cat:ca ces:cs
cym:cy dan:da deu:de dzo:dz ell:el eng:en epo:eo est:et eus:eu ewe:ee fao:fo fas:fa pes:fa fij:fj fin:fi fra:fr fry:fy ful:ff
fuv:ff gla:gd gle:ga glg:gl grn:gn guj:gu hat:ht hau:ha heb:he hin:hi hrv:hr hun:hu hye:hy ibo:ig ind:id isl:is ita:it jav:jv
jpn:ja kan:kn kas:ks kat:ka kaz:kk khk:mn mon:mn khm:km kik:ki kin:rw kir:ky kon:kg kor:ko lao:lo lav:lv lvs:lv lim:li lin:ln
lit:lt ltz:lb lug:lg mal:ml mar:mr mkd:mk plt:mg mlg:mg mlt:mt mri:mi mya:my nld:nl nno:nn nob:nb npi:ne nep:ne nya:ny oci:oc
ory:or ori:or gaz:om orm:om pan:pa pbt:ps pus:ps pol:pl por:pt quy:qu que:qu ron:ro run:rn rus:ru sag:sg san:sa sin:si slk:sk
slv:sl smo:sm sna:sn snd:sd som:so sot:st spa:es srd:sc srp:sr ssw:ss sun:su swe:sv swh:sw swa:sw tam:ta tat:tt tel:te tgk:tg
tgl:tl tha:th tir:ti tsn:tn tso:ts tuk:tk tur:tr twi:tw uig:ug ukr:uk urd:ur uzn:uz uzb:uz vie:vi wol:wo xho:xh ydd:yi yid:yi
yor:yo zho:zh zul:zu zsm:ms msa:ms als:sq sqi:sq
""".split())


def tags(codes: Iterable[str]) -> dict[str, str]:
    """The tag of each code. A script is part of a tag only where the model has the language in several."""
    codes = list(codes)
    parts = {code: _split(code) for code in codes}
    scripts: dict[str, set[str]] = {}
    for language, script in parts.values():
        scripts.setdefault(language, set()).add(script)
    found = {code: f"{language}-{script}" if script and len(scripts[language]) > 1 else language
             for code, (language, script) in parts.items()}
    # Two codes of one macrolanguage keep their own names.
    taken = list(found.values())
    return {code: tag if taken.count(tag) == 1 else code.strip("_><").replace("_", "-") for code, tag in found.items()}


def code_of(languages: dict[str, str], asked: str, option: str) -> str:
    """The code of the language that a person named by its tag or its code."""
    for code, tag in languages.items():
        if asked.lower() in (tag.lower(), code.lower()):
            return code
    shown = ", ".join(sorted(languages.values())[:32])
    raise ConvertError(f"{option}: '{asked}' is not a language of the model, which has {shown}"
                       + (f" and {len(languages) - 32} more" if len(languages) > 32 else ""))


def _split(code: str) -> tuple[str, str]:
    language, _, script = code.strip("_><").partition("_")
    language = language.lower()
    return _SHORT.get(language, language), script
