"""Scalars as kubectl reads them, in the order of the rules in yamlscalars."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.yamlscalars import UnreadableScalar, json_value, key_text, resolve


def value(text: str) -> object:
    return json_value(resolve(text, None, is_plain=True))


def key(text: str) -> str:
    return key_text(resolve(text, None, is_plain=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0751", 489),
        ("-0751", -489),
        ("0o751", 489),
        ("089", 89),
        ("0xFf", 255),
        ("0B101", 5),
        ("-0b101", -5),
        ("12_345", 12345),
        ("4.0", 4),
        ("2e2", 200),
        ("2e1_0", 20000000000),
        (".25", 0.25),
        ("9223372036854775807", 2**63 - 1),
        ("9007199254740993", 2**53 + 1),
        ("-9223372036854775808", -(2**63)),
        ("0922337203685475808", 922337203685475800),
    ],
)
def test_number(text: str, expected: float) -> None:
    read = value(text)
    assert read == expected
    assert type(read) is type(expected)


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854790000", "98765432109876543210987"])
def test_beyond_int64_is_float64(text: str) -> None:
    assert value(text) == float(text)
    assert type(value(text)) is float


@pytest.mark.parametrize("word", ["y", "Yes", "ON", "true", "TRUE"])
def test_word_is_true(word: str) -> None:
    assert value(word) is True
    assert key(word) == "true"


@pytest.mark.parametrize("word", ["n", "No", "OFF", "false", "False"])
def test_word_is_false(word: str) -> None:
    assert value(word) is False
    assert key(word) == "false"


@pytest.mark.parametrize(
    "text",
    [
        "yEs",
        "tRue",
        "nil",
        "None",
        "=",
        "1:30",
        "22:22",
        "1e999",
        "7e4321",
        "0x",
        "0b",
        "1e",
        "_9",
        "1.2.3",
        "-",
        "2023-02-03",
        "2023-2-3",
        "2023-02-03T04:05:06Z",
        "2023-19-45",
        "٣",
    ],
)
def test_text_stays_text(text: str) -> None:
    assert value(text) == text
    assert key(text) == text


def test_quoted_stays_text() -> None:
    assert resolve("0751", None, is_plain=False) == "0751"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4.0", "4"),
        ("0751", "489"),
        ("1500000.0", "1.5e+06"),
        ("0.00002", "2e-05"),
        ("0.25", "0.25"),
        ("3e50", ".inf"),
        ("-3e50", "-.inf"),
        (".NaN", ".nan"),
        ("36893488147419103232", "3.689349e+19"),
    ],
)
def test_key_as_text(text: str, expected: str) -> None:
    assert key(text) == expected


@pytest.mark.parametrize("text", ["~", "null", "", "9223372036854775808"])
def test_key_refused(text: str) -> None:
    with pytest.raises(UnreadableScalar):
        key(text)


@pytest.mark.parametrize("text", [".inf", "-.INF", ".nan"])
def test_value_refused(text: str) -> None:
    with pytest.raises(UnreadableScalar):
        value(text)


@pytest.mark.parametrize(
    ("tag", "text", "expected"),
    [
        ("tag:yaml.org,2002:str", "0751", "0751"),
        ("tag:yaml.org,2002:int", "0751", 489),
        ("tag:yaml.org,2002:float", "3", 3),
        ("tag:yaml.org,2002:bool", "off", False),
        ("tag:yaml.org,2002:binary", "b2s=", "ok"),
        ("tag:yaml.org,2002:timestamp", "2023-02-03", "2023-02-03"),
        ("!Sub", "0751", "0751"),
    ],
)
def test_tag(tag: str, text: str, expected: object) -> None:
    assert json_value(resolve(text, tag, is_plain=False)) == expected


@pytest.mark.parametrize(
    ("tag", "text"), [("int", "many"), ("bool", "1"), ("null", "x"), ("binary", "?"), ("int", "1.5")]
)
def test_tag_that_does_not_fit(tag: str, text: str) -> None:
    with pytest.raises(UnreadableScalar):
        resolve(text, f"tag:yaml.org,2002:{tag}", is_plain=True)


@given(st.integers(-(2**70), 2**70))
def test_every_integer_is_itself_or_its_float(number: int) -> None:
    read = value(str(number))
    assert read == (number if -(2**63) <= number < 2**63 else float(number))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_itself(number: float) -> None:
    read = value(repr(number))
    assert isinstance(read, int | float)
    assert float(read) == number


@given(st.floats(width=32, allow_nan=False))
def test_a_float_key_names_its_float32(number: float) -> None:
    text = key_text(number)
    assert struct.pack("f", float(text.replace(".inf", "inf"))) == struct.pack("f", number)
