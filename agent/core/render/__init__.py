"""Values as people and programs read them: a plan and a status as text, Markdown and JSON.

Every word comes from the value that is shown; nothing is looked up, nothing is guessed. Secret values
are masked under a key that the caller makes anew for each run.
"""

from agent.core.render.as_json import as_json
from agent.core.render.explain import explained, explained_json, explained_markdown
from agent.core.render.findings import findings_json, findings_sarif, findings_text
from agent.core.render.history import history, history_json, history_markdown
from agent.core.render.markdown import COMMENT_LIMIT, markdown
from agent.core.render.progress import Progress, event_line, waiting, written_lines
from agent.core.render.rehearsal import (
    rehearsal_headline,
    rehearsal_json,
    rehearsal_markdown,
    rehearsal_text,
)
from agent.core.render.status import status, status_json, status_markdown
from agent.core.render.text import headline, printed, steps_left, text
from agent.core.render.timeline import rehearsal_svg
from agent.core.render.verdict import verdict_headline, verdict_json, verdict_markdown, verdict_text

__all__ = [
    "COMMENT_LIMIT",
    "Progress",
    "as_json",
    "event_line",
    "explained",
    "explained_json",
    "explained_markdown",
    "findings_json",
    "findings_sarif",
    "findings_text",
    "headline",
    "history",
    "history_json",
    "history_markdown",
    "markdown",
    "printed",
    "rehearsal_headline",
    "rehearsal_json",
    "rehearsal_markdown",
    "rehearsal_svg",
    "rehearsal_text",
    "status",
    "status_json",
    "status_markdown",
    "steps_left",
    "text",
    "verdict_headline",
    "verdict_json",
    "verdict_markdown",
    "verdict_text",
    "waiting",
    "written_lines",
]
