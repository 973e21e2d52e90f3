"""NetworkPolicies that come, change and go with an upgrade: pods that serve keep a way in."""

from __future__ import annotations

from dataclasses import replace

from agent.core.orders import Order
from agent.core.rehearsal.answer import Rehearsal, Verdict
from tests.core.rehearsal.small import BLUE, rehearsed, script
from tests.shell.releases import ingress, web

DENY = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: a-deny, namespace: front}
spec: {podSelector: {}, policyTypes: [Ingress]}
"""


def allowing(name: str, rule: str = "{ports: [{port: 8080}]}", selector: str = "{}") -> str:
    return f"""\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: {name}, namespace: front}}
spec: {{podSelector: {selector}, policyTypes: [Ingress], ingress: [{rule}]}}
"""


ALLOW = allowing("b-allow")
DOOR = "on port 8080/TCP (Service front/blue)"


def upgraded(before: tuple[str, ...], after: tuple[str, ...], order: Order = Order.GATED) -> Rehearsal:
    return rehearsed(script((*BLUE, *before), (*BLUE, *after), order, disturbs=False))


def test_what_lets_in_comes_before_what_shuts_out() -> None:
    answer = upgraded((), (DENY, ALLOW))
    assert (answer.verdict, answer.stories) == (Verdict.KEPT, ())
    steps = [step for step in answer.steps if "NetworkPolicy" in step]
    assert steps[-1] == "create NetworkPolicy front/a-deny"


def test_in_the_order_of_their_names_the_pods_are_shut_for_a_moment() -> None:
    answer = upgraded((), (DENY, ALLOW), Order.NAIVE)
    assert answer.verdict is Verdict.BROKEN
    (story,) = answer.stories
    assert (story.invariant, story.subject) == ("entry", "Service front/blue [to port 8080/TCP]")
    assert story.says.startswith("no policy lets anybody in to Pod front/blue-")


def test_a_policy_that_leaves_no_way_in_is_held_for_a_person() -> None:
    answer = upgraded((), (DENY,))
    assert answer.verdict is Verdict.ANNOUNCED
    (told,) = answer.announced
    assert told.startswith("create NetworkPolicy front/a-deny: Pod front/blue-")
    assert DOOR in told
    assert "or allow it by allow_downtime: [NetworkPolicy front/a-deny]" in told


def test_a_person_may_want_it_so() -> None:
    play = script(BLUE, (*BLUE, DENY), disturbs=False)
    wanted = frozenset({"NetworkPolicy front/a-deny"})
    answer = rehearsed(replace(play, rules=replace(play.rules, allow_downtime=wanted)))
    assert answer.verdict is Verdict.ANNOUNCED
    assert answer.stories == ()
    assert any("create NetworkPolicy front/a-deny" in step for step in answer.steps)
    assert (
        "Ingress front/front [shop.example /] may be interrupted: the downtime is allowed" in answer.announced
    )


def test_two_that_shut_each_others_ports_have_no_good_order() -> None:
    """Each lets in by one of two ports: whichever comes first shuts the other."""
    two = (
        BLUE[1]
        .replace("{port: 80, ", "{name: a, port: 80, ")
        .replace("targetPort: 8080}]", "targetPort: 8080}, {name: b, port: 81, targetPort: 8081}]")
    )
    front = (BLUE[0], two, BLUE[2])
    rules = allowing("one"), allowing("two", "{ports: [{port: 8081}]}")
    answer = rehearsed(script(front, (*front, *rules), disturbs=False))
    assert answer.verdict is Verdict.ANNOUNCED
    assert len(answer.announced) == 2


def test_what_lets_in_stays_until_another_does_it() -> None:
    answer = upgraded((DENY, ALLOW), (DENY, allowing("c-allow", "{}")))
    assert (answer.verdict, answer.stories) == (Verdict.KEPT, ())
    steps = [step for step in answer.steps if "NetworkPolicy" in step]
    assert steps[-1] == "delete NetworkPolicy front/b-allow"


def test_what_lets_in_does_not_go_while_something_else_shuts_out() -> None:
    answer = upgraded((DENY, ALLOW), (DENY,))
    assert answer.verdict is Verdict.ANNOUNCED
    assert any(told.startswith("delete NetworkPolicy front/b-allow: ") for told in answer.announced)
    assert answer.stories == ()


def test_where_both_go_what_shuts_out_goes_first() -> None:
    answer = upgraded((DENY, ALLOW), ())
    assert (answer.verdict, answer.stories) == (Verdict.KEPT, ())
    assert [step for step in answer.steps if "NetworkPolicy" in step] == [
        "delete NetworkPolicy front/a-deny",
        "delete NetworkPolicy front/b-allow",
    ]


def test_a_selector_that_takes_in_more_pods_waits_for_whoever_lets_them_in() -> None:
    few = allowing("a-deny", "{ports: [{port: 1}]}", "{matchLabels: {app: other}}")
    all_of_them = allowing("a-deny", "{ports: [{port: 1}]}")
    answer = upgraded((few,), (all_of_them, ALLOW))
    assert (answer.verdict, answer.stories) == (Verdict.KEPT, ())
    assert [step for step in answer.steps if "a-deny" in step] == ["cutover NetworkPolicy front/a-deny"]


def test_a_policy_that_turns_to_the_new_pods_while_old_ones_need_it_is_held_for_a_person() -> None:
    green = (BLUE[0], web("green"), ingress("front/green"))
    old, new = (allowing("b-allow", "{}", f"{{matchLabels: {{app: {app}}}}}") for app in ("blue", "green"))
    answer = rehearsed(script((*BLUE, DENY, old), (*green, DENY, new), disturbs=False))
    assert (answer.verdict, answer.stories) == (Verdict.ANNOUNCED, ())
    assert any("give the policy of the new pods a name of its own" in told for told in answer.announced)
    named = new.replace("b-allow", "c-allow")
    answer = rehearsed(script((*BLUE, DENY, old), (*green, DENY, named), disturbs=False))
    assert (answer.verdict, answer.stories) == (Verdict.KEPT, ())


def test_what_a_policy_lets_in_is_narrowed_once_old_pods_are_gone() -> None:
    green = (BLUE[0], web("green"), ingress("front/green"))
    wide, narrow = allowing("b-allow", "{}"), allowing("b-allow", "{ports: [{port: 8080}]}")
    answer = rehearsed(script((*BLUE, wide), (*green, narrow), disturbs=False))
    assert (answer.verdict, answer.stories) == (Verdict.KEPT, ())
    assert answer.steps[-1] == "narrow NetworkPolicy front/b-allow"
