"""What of a manifest is sent: without what is never applied, and with what only we hold."""

from __future__ import annotations

from agent.core.injected import with_injected
from agent.core.mirrors import with_emptied
from agent.core.model import Body, LiveObject
from agent.core.normalize import applicable
from agent.core.scaling import released
from agent.core.situation import Situation


def to_send(body: Body, live: LiveObject | None, situation: Situation) -> Body:
    """The body as it is applied to ``live`` (None: the object is made new), without our labels."""
    sent = applicable(body, situation.policy)
    if live is None:
        return sent
    sent = with_emptied(sent, live, situation.policy, situation.rules.manager)
    sent = with_injected(sent, live, situation.policy, situation.rules.manager)
    if live.id in situation.scaled:
        sent = released(sent, live, situation.policy, situation.rules.manager)
    return sent
