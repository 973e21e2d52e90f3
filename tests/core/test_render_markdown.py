"""Plans as a forge shows them: within its limit, folded, and whole whatever the names hold."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from agent.core.ledger import Generation, GenerationState, Hold, Ledger
from agent.core.render import COMMENT_LIMIT, markdown, status_markdown
from agent.core.render.escape import code, fence, prose
from tests.core.golden import golden
from tests.core.plans import HOSTILE, KEY, handoff, hostile

FORGE = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HARMLESS = {
    *("h3", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "ul", "li", "code", "pre"),
    *("details", "summary", "br"),
}


class _Tags(HTMLParser):
    """Collects tags and, apart, the text outside of code."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.outside_code = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the tag; nothing that we write carries another attribute than a class or an alignment."""
        assert {name for name, _ in attrs} <= {"class", "style"}
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Every end fits the tag that was opened last."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Keep what a forge would search for mentions and references."""
        if "code" not in self.open:
            self.outside_code += data


def rendered(text: str) -> _Tags:
    html: str = FORGE.render(text)
    tags = _Tags(html)
    assert tags.open == []
    return tags


def table_rows(text: str) -> Iterator[int]:
    """How many cells each table row has, as a forge sees it."""
    cells = 0
    for token in FORGE.parse(text):
        cells += token.type in ("td_open", "th_open")
        if token.type == "tr_close":
            yield cells
            cells = 0


def test_comment_reads_as_the_golden_file() -> None:
    shown = markdown(handoff(), KEY, observed=True, note="compared with cluster prod-eu-1")
    assert shown == golden("plan.md", shown)
    assert rendered(shown).tags <= HARMLESS


def test_preview_has_no_column_of_what_was_seen() -> None:
    shown = markdown(handoff(), KEY, observed=False)
    assert shown == golden("preview.md", shown)
    assert "held" not in shown


def test_hostile_text_ends_no_table_fence_or_fold_and_notifies_nobody() -> None:
    shown = markdown(hostile(), KEY, observed=True)
    tags = rendered(shown)
    assert tags.tags <= HARMLESS
    assert list(table_rows(shown)) == [5, 5, 4, 4]
    for what in ("@team", "#12", "http:", "<img"):
        assert what not in tags.outside_code
    assert sum(token.type == "fence" for token in FORGE.parse(shown)) == 1


@pytest.mark.parametrize(
    "text", [HOSTILE, "`", "``` `", "a|b", "\\|", " ", "", "-", "1. x", "www.x.example", "_a_ *b*"]
)
def test_a_code_span_in_a_cell_shows_its_text(text: str) -> None:
    shown = f"| a | b |\n|---|---|\n| {code(text)} | {prose(text)} |\n"
    assert list(table_rows(shown)) == [2, 2]
    tags = rendered(shown)
    assert tags.tags <= {"table", "thead", "tbody", "tr", "th", "td", "code", "p"}


@pytest.mark.parametrize("limit", [4000, 10_000, COMMENT_LIMIT])
@pytest.mark.parametrize("objects", [1, 40, 2000])
def test_a_comment_keeps_the_limit_and_counts_what_it_leaves_out(limit: int, objects: int) -> None:
    shown = markdown(hostile(objects), KEY, observed=True, limit=limit)
    assert len(shown) <= limit
    assert rendered(shown).tags <= HARMLESS
    if objects == 2000:
        assert "left out" in shown


def test_rows_come_before_the_difference_when_room_is_short() -> None:
    whole = markdown(handoff(), KEY, observed=True)
    short = markdown(handoff(), KEY, observed=True, limit=len(whole) - 200)
    assert short.count("\n| ") == whole.count("\n| ")
    assert "more objects left out" in short
    assert short.endswith("</details>\n")


def test_secret_values_are_masked() -> None:
    shown = markdown(handoff(), KEY, observed=True)
    assert "b2xkIGtleQ==" not in shown
    assert "bmV3IGtleQ==" not in shown


def test_fences_are_longer_than_any_run_within() -> None:
    assert fence("a") == "```"
    assert fence("x ````` y") == "``````"


def test_status_is_a_table_whatever_the_names() -> None:
    ledger = Ledger(
        HOSTILE,
        (Generation(1, HOSTILE, GenerationState.IN_SERVICE, 0.0),),
        holds={HOSTILE: Hold(0.0, HOSTILE)},
    )
    shown = status_markdown([ledger, Ledger("new")], 18.0)
    assert list(table_rows(shown)) == [5, 5, 5, 5]
    assert rendered(shown).tags <= HARMLESS
