"""What kubectl makes of one YAML scalar: the rules of go-yaml v2, which sigs.k8s.io/yaml reads with.

They are those of YAML 1.1 with three departures: octal integers of YAML 1.2 too (``0o644``), no base-60
numbers, and dates stay text. Source: resolve.go of go.yaml.in/yaml/v2 and yaml.go of sigs.k8s.io/yaml.
"""

from __future__ import annotations

import re
import struct
from base64 import b64decode
from decimal import Decimal
from math import inf, isfinite, isinf, isnan, nan
from typing import Any, Final

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1
UINT64_MAX: Final = 2**64 - 1

_TAG_PREFIX: Final = "tag:yaml.org,2002:"

_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -inf),
}
_INTEGER: Final = re.compile(
    r"([-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))",
)
_BASES: Final = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SIGNED_BINARY: Final = re.compile(r"0b([-+][01]+)")
_DOT_FLOAT: Final = re.compile(r"\.[0-9](?:_?[0-9])*(?:[eE][-+]?[0-9](?:_?[0-9])*)?")
_TIMESTAMP: Final = re.compile(
    r"""(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})
    (?:(?:(?P<t>[Tt])|[ ]+)(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2}):(?P<second>[0-9]{1,2})(?:[.,][0-9]+)?
    (?(t)(?:Z|[-+](?P<zone_hour>[0-9]{2}):(?P<zone_minute>[0-9]{2}))))?""",
    re.VERBOSE,
)
_CLOCK: Final = {"hour": 23, "minute": 59, "second": 59, "zone_hour": 24, "zone_minute": 60}
"""The largest that time.Parse of Go takes."""

_REPLACED: Final = dict.fromkeys(range(0xDC80, 0xDD00), "\ufffd")
_DIGIT_LIMIT: Final = 400
"""No 64-bit number has more digits; beyond it conversion costs grow with the square of the length."""

_EXPONENT_RANGE: Final = range(-4, 6)
"""Decimal exponents that FormatFloat 'g' with the shortest precision writes without an exponent."""


class UnreadableScalar(ValueError):
    """A scalar that kubectl refuses; the text says why and never quotes the value."""


def resolve(text: str, tag: str | None, *, is_plain: bool) -> Any:
    """The value of a scalar as Go holds it; ``tag`` as the parser gives it, None where there is none.

    Whole numbers up to 2**64-1 are int, others float (Infinity and NaN too). ``key_text`` and
    ``json_value`` make of it what stands in JSON.

    Raises:
        UnreadableScalar: the tag and the text do not fit, or the base64 is broken.
    """
    if tag is None:
        return _untagged(text)[1] if is_plain else text
    short = tag.removeprefix(_TAG_PREFIX) if tag.startswith(_TAG_PREFIX) else ""
    if short == "binary":
        return _binary(text)
    if short not in {"bool", "int", "float", "null", "timestamp"}:
        return text
    kind, value = _untagged(text)
    if short == "float" and kind == "int" and value <= INT64_MAX:
        return float(value)
    if short == "timestamp" and _is_timestamp(text):
        return text
    if kind != short:
        raise UnreadableScalar(f"a value tagged !!{short} does not read as one")
    return value


def key_text(value: Any) -> str:
    """A mapping key as the text that sigs.k8s.io/yaml makes of it: 1.0 -> "1", 0644 -> "420", yes -> "true".

    Raises:
        UnreadableScalar: the key is null, or a whole number above 2**63-1.
    """
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() if value <= INT64_MAX:
            return str(value)
        case float():
            return _float32_text(value)
        case None:
            raise UnreadableScalar("null cannot be a key")
        case _:
            raise UnreadableScalar("a whole number above 2^63-1 cannot be a key")


def json_value(value: Any) -> Any:
    """A scalar as JSON has it: 1.0 is 1, and whole numbers beyond int64 are float64.

    Raises:
        UnreadableScalar: Infinity or NaN, which JSON does not have.
    """
    if type(value) is float:
        if not isfinite(value):
            raise UnreadableScalar("infinity and not-a-number cannot be written in JSON")
        # Go writes the shortest digits that name the float, so 922337203685475808.0 is ...800 in JSON
        number = int(Decimal(repr(value))) if value.is_integer() else None
        return number if number is not None and INT64_MIN <= number <= INT64_MAX else value
    if type(value) is int and not INT64_MIN <= value <= INT64_MAX:
        return float(value)
    return value


def _untagged(text: str) -> tuple[str, Any]:
    """The type word and value of a plain scalar without a tag."""
    first = text[:1]
    if first in "yYnNtTfFoO~" or text in _WORDS:
        return _word(text)
    if first == ".":
        return _float(text.replace("_", "")) or ("str", text) if _DOT_FLOAT.fullmatch(text) else ("str", text)
    if not first.isdecimal() and first not in "+-":
        return "str", text
    plain = text.replace("_", "")
    return _integer(plain) or _float(plain) or ("str", text)


def _word(text: str) -> tuple[str, Any]:
    if text not in _WORDS:
        return "str", text
    value = _WORDS[text]
    names = {bool: "bool", float: "float"}
    return names.get(type(value), "null"), value


def _is_timestamp(text: str) -> bool:
    """Whether parseTimestamp of resolve.go takes it; a month has the days that the calendar gives it."""
    found = _TIMESTAMP.fullmatch(text)
    if found is None or any(int(found[name] or 0) > most for name, most in _CLOCK.items()):
        return False
    year, month, day = (int(found[name]) for name in ("year", "month", "day"))
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if is_leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return month in range(1, 13) and day in range(1, days[month - 1] + 1)


def _integer(plain: str) -> tuple[str, Any] | None:
    if len(plain) > _DIGIT_LIMIT:
        return None
    found = _INTEGER.fullmatch(plain)
    if found is None:
        # What Go's reader of 0b... does when all else fails: the sign stands behind the prefix.
        signed = _SIGNED_BINARY.fullmatch(plain)
        number = int(signed[1], 2) if signed else None
        return ("int", number) if number is not None and INT64_MIN <= number <= INT64_MAX else None
    kind = str(found.lastgroup)
    number = int(found[kind], _BASES[kind])
    number = -number if found[1] == "-" else number
    # Go's ParseUint takes no sign: a signed number of that size is a float from the start.
    fits = INT64_MIN <= number <= INT64_MAX or (number <= UINT64_MAX and not found[1])
    return ("int", number) if fits else None


def _float(plain: str) -> tuple[str, Any] | None:
    if not _FLOAT.fullmatch(plain):
        return None
    number = float(plain)
    return None if isinf(number) else ("float", number)


def _binary(text: str) -> str:
    try:
        return replace_invalid(b64decode(re.sub(r"[\r\n]", "", text), validate=True))
    except ValueError:  # also of text that is not ASCII
        raise UnreadableScalar("a value tagged !!binary is not base64") from None


def replace_invalid(data: bytes) -> str:
    """Text with U+FFFD in place of each byte that is not UTF-8, as Go's decoder puts it."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape").translate(_REPLACED)


def _float32_text(value: float) -> str:
    """``strconv.FormatFloat(value, 'g', -1, 32)`` as sigs.k8s.io/yaml words it."""
    if isnan(value):
        return ".nan"
    try:
        single = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        single = inf if value > 0 else -inf
    if isinf(single):
        return ".inf" if single > 0 else "-.inf"
    shortest = next(
        text
        for digits in range(9)
        if struct.pack("f", float(text := f"{single:.{digits}e}")) == struct.pack("f", single)
    )
    mantissa, exponent = shortest.split("e")
    if int(exponent) in _EXPONENT_RANGE:
        places = max(len(mantissa.lstrip("-").replace(".", "")) - 1 - int(exponent), 0)
        return f"{float(shortest):.{places}f}"
    return f"{mantissa}e{exponent}"
