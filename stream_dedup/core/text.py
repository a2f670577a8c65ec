"""A text made comparable: folded, split into runs of one script, and reduced to the form whose digest finds it again.

Three steps, each a pure function:

    fold("Ｔｈｅ 電腦\u3000軟體 rose 3.5％")  ->  "the 电脑软体 rose 3.5%"
    runs("the 电脑软体 rose 3.5%")          ->  ["the", "电脑软体", "rose", "3", "5"]
    comparable("the 电脑软体 rose 3.5%")    ->  "the电脑软体rose3·5%"   (· is a mark for the point inside the number)
"""

import re
import unicodedata
from html import unescape
from html.entities import html5

import opencc
import xxhash

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003fffd"
"""Ideographs, the repetition mark 々 and the zero 〇, as the inside of a character class."""
UNSPACED = (
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"  # Thai, Lao
    "\u0f00\u0f18-\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f84\u0f86-\u0fbc"  # Tibetan
    "\u1000-\u103f\u1050-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17d3\u17d7\u17dc-\u17dd"  # Khmer
)
"""Scripts that put no space between words, their vowel signs and tone marks included."""
PERCENT = "%‰‱٪"
"""Punctuation by its Unicode category that carries meaning all the same: 3.5% is not 3.5."""


def _character_class(*categories: str) -> str:
    """The characters of these Unicode categories, without PERCENT, as the inside of a character class.

    Of the basic plane only: a class with many ranges above it is searched one by one (ten times slower), and what is
    there beyond letters and emoji are signs of ancient scripts and of music, which may as well count as letters.
    """
    codes = (code for code in range(0x10000) if unicodedata.category(chr(code)) in categories)
    members = [code for code in codes if chr(code) not in PERCENT]
    firsts = [code for code, before in zip(members, [-2, *members], strict=False) if code != before + 1]
    lasts = [code for code, after in zip(members, [*members[1:], -2], strict=True) if code + 1 != after]
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in zip(firsts, lasts, strict=True))


_PUNCTUATION = _character_class("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po")
_SYMBOL = _character_class("Sc", "Sk", "Sm", "So") + "\U0001f000-\U0001fbff"
SPACE = r"\s" + _character_class("Zs", "Zl", "Zp")
"""White space, as the inside of a character class."""
PRIVATE = "\ue000-\uf8ff\U000f0000-\U0010ffff"

# Characters that are not seen: controls (except white space), format characters and what else Unicode lists as default
# ignorable (DerivedCoreProperties: fillers, joiners, variation selectors, tags); noncharacters, used as marks; and the
# tatweel, which stretches Arabic words and says nothing.
_CONTROLS = bytes([*range(0x09), *range(0x0E, 0x1C), 0x7F])
_UNSEEN = re.compile(
    "[\x80-\x84\x86-\x9f"
    + _character_class("Cf")
    + "\u0640\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\ufdd0-\ufdef"
    + "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "]+"
)
# Superscripts, fractions, circled and squared numbers: NFKC makes digits of them, which must not join their neighbours.
_NUMBER_SIGN = re.compile(
    "[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070\u2074-\u2079\u2080-\u2089\u2150-\u215f\u2189\u2460-\u249b\u24ea\u3248-\u325f"
    "\u32b1-\u32cb\u3358-\u3370\u3371-\u33fe\U0001f100-\U0001f10a]"
)
# NFKC leaves ideographs and these marks as they are, and takes 200 ns a character to find that out (ASCII goes along
# only where it may be the base of a combining mark). Runs are bounded because CPython sorts the marks on one base by
# insertion: a megabyte of them would take ten minutes, in runs of 500 it takes a second.
_TO_NORMALIZE = re.compile(f"[\x00-\x7f]?[^\x00-\x7f{HAN}、。《》“”‘’—·]{{1,500}}")
_WIDE = tuple(zip("，：；！？（）％．\u3000", ",:;!?()%. ", strict=True))
"""Full-width marks that every Chinese text is full of: quicker one by one than as runs to normalize."""
_ONE_SIGN = tuple(zip("\u2010\u2011\u2012\u2013\u2212\u2019", "-----'", strict=True))
"""Hyphens, en dash and minus are one sign, and so are the apostrophes."""
_SPACE_IN_HAN = re.compile(f"[{SPACE}](?<=[{HAN}].)[{SPACE}]*(?=[{HAN}])", re.DOTALL)
_TO_SIMPLIFIED = opencc.OpenCC("t2s")
_ENTITY = re.compile("&(?:[a-z][a-z0-9]{1,31}|#[0-9]{1,7}|#x[0-9a-f]{1,6});")
"""A character reference of HTML, in lower case."""
_ESCAPED = 3
"""How often over a text is decoded (&amp;amp;nbsp; needs one more than &amp;nbsp;); beyond, ampersands are dropped."""


def fold(text: str) -> str:
    """The text with case, width, compatibility forms and script variants (traditional to simplified) set aside.

    Characters that are not seen and lone surrogates are dropped, and so is white space inside a run of Han. References
    of HTML that a crawler left (&nbsp; &#39;), also escaped ones (&amp;nbsp;), become what they stand for. Folding
    twice changes nothing more.
    """
    folded = fold_characters(text)
    for _ in range(_ESCAPED):
        decoded = _ENTITY.sub(_decode_entity, folded) if "&" in folded else folded
        if decoded == folded:
            return folded
        folded = fold_characters(decoded)
    return fold_characters(folded.replace("&", " "))


def _decode_entity(match: re.Match[str]) -> str:
    reference = match[0]
    # By number as browsers do it: &#146; is the apostrophe of Windows-1252. An unknown name stays as it is.
    return unescape(reference) if reference[1] == "#" else html5.get(reference[1:], reference)


def has_entity(folded: str) -> bool:
    """Whether a folded text has a reference of HTML in it."""
    return "&" in folded and _ENTITY.search(folded) is not None


def fold_characters(text: str) -> str:
    """The text folded, but for references of HTML."""
    text = text.encode("utf-8", "ignore").translate(None, delete=_CONTROLS).decode("utf-8").casefold()
    text = _replace(text, _WIDE)
    text = _TO_NORMALIZE.sub(_normalize_run, text)
    text = _replace(text, _ONE_SIGN)
    text = _SPACE_IN_HAN.sub("", text)
    # OpenCC makes 苧 of 薴, and 苎 of 苧: one more step makes its work final.
    return str(_TO_SIMPLIFIED.convert(text)).replace("苧", "苎")


def _replace(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for variant, plain in pairs:
        text = text.replace(variant, plain)
    return text


def _normalize_run(match: re.Match[str]) -> str:
    run = _UNSEEN.sub("", match[0])
    if unicodedata.is_normalized("NFKC", run):
        return run
    run = unicodedata.normalize("NFKC", _NUMBER_SIGN.sub(r" \g<0> ", run)).casefold()
    return unicodedata.normalize("NFKC", run)


RUN = re.compile(f"([{HAN}]+)|([{UNSPACED}]+)|([^{HAN}{UNSPACED}{SPACE}{_PUNCTUATION}{PERCENT}{_SYMBOL}{PRIVATE}]+)")
"""A run, by its group: of Han, of a script without spaces, or of letters, marks and digits of all others."""


def runs(folded: str) -> list[str]:
    """Runs of Han, runs of a script without spaces, and words of all others, in order: letters, marks and numbers."""
    return [match[0] for match in RUN.finditer(folded)]


MARKS = {kept: chr(0xFDD0 + place) for place, kept in enumerate(" .,:/'-٫٬")}
"""What is kept of a number's punctuation, as noncharacters, which no folded text has of its own."""
MARKS["—"] = MARKS["-"]
ASIDE = f"{SPACE}{PRIVATE}{_PUNCTUATION}"
"""What is set aside, as the inside of a character class."""
BORDER = f"{HAN}{SPACE}{_PUNCTUATION}{PERCENT}{_SYMBOL}"
"""After what a minus leads a number, as the inside of a character class."""
CURRENCY = _character_class("Sc")
_GAP = re.compile(f"(\\d)([{ASIDE}]+)(?=\\d)")
# A sign or a decimal point that leads a number: -1.14, -$5, .50; but covid-19 has no sign, nor has a dash of hyphens.
_LEADING = re.compile(
    f"-(?<![^{BORDER}].)(?<![-.].)(?=[{CURRENCY}]?\\.?\\d)"
    r"|\.(?<!\w.)(?<!\..)(?=\d)"
)
_ASIDE = re.compile(f"[{ASIDE}]+")


def comparable(folded: str) -> str:
    """What two texts must share to be the same: letters, marks, digits, symbols, the signs and separators of numbers.

    White space and other punctuation are set aside, save that between two digits one separator stays. The result is
    for comparing only: a number's signs and separators are in it as noncharacters.
    """
    marked = _GAP.sub(_mark_gap, folded)
    marked = _LEADING.sub(lambda match: MARKS[match[0]], marked)
    return _ASIDE.sub("", marked)


def _mark_gap(match: re.Match[str]) -> str:
    """The mark for what stands between two digits: one separator of a number, or a gap, after which a sign may lead."""
    digit, gap = match.groups()
    if gap in MARKS:
        return digit + MARKS[gap]
    leads = gap[-1] in "-." and gap[-2:-1] not in {"", "-", "."}
    return digit + MARKS[" "] + (MARKS[gap[-1]] if leads else "")


def digest(comparable_text: str) -> bytes:
    """The xxh3_128 digest (16 bytes, big endian) of a comparable form: equal for the same text, whatever the scheme."""
    return xxhash.xxh3_128_digest(comparable_text.encode("utf-8"))
