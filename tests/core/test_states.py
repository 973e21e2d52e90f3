"""A state that moved on event by event answers as one made anew from the same objects."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.core.model import Body, ObjectId
from agent.core.policy import id_of
from agent.core.rbac import service_account
from agent.core.states import Event, State
from tests.core.histories import account, binding, cluster_role, deleting, endpoints, meta, obj, ours, pod

PODS = [
    pod("a"),
    pod("a", serviceAccountName="other"),
    pod("a", volumes=[{"configMap": {"name": "conf"}}, {"configMap": {"name": "conf"}}]),
    deleting(pod("b")),
    meta(pod("b"), uid="another"),
    pod("b", volumes=[{"configMap": {"name": "conf"}}]),
]
BODIES = [
    *PODS,
    endpoints("web", "a", "b"),
    endpoints("web", "b"),
    meta(endpoints("web", "a"), labels={"kubernetes.io/service-name": "moved"}),
    cluster_role("reader", "get"),
    cluster_role("reader", "get list"),
    binding("reads", "reader", account("web")),
    binding("reads", "reader", account("other"), {"kind": "Group", "name": "system:serviceaccounts"}),
    obj("v1", "Namespace", "shop"),
    deleting(obj("v1", "Namespace", "shop")),
    ours(obj("apps/v1", "ReplicaSet", "rs", "shop", meta={"uid": "rs-1"})),
]
PLACES = [("shop", "web"), ("shop", "other")]
CONF = ObjectId("", "ConfigMap", "shop", "conf")


def answers(state: State) -> list[object]:
    objects = dict(state.items())
    pods = sorted(state.pods())
    keys = [service_account(*place).keys for place in PLACES]
    return [
        objects,
        pods,
        [state.is_going(each) for each in pods],
        [state.is_ours(objects[each]) for each in pods],
        sorted(state.pods_in("shop")),
        [sorted(state.pods_with(key)) for key in keys],
        state.pods_using(CONF),
        [
            sorted(map(str, state.slices_of(ObjectId("", "Service", "shop", name))))
            for name in ("web", "moved")
        ],
        [state.rights_of(*place) for place in PLACES],
        {state.by_uid(uid) for uid in ("rs-1", "another", "Pod-shop-b")},
    ]


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(BODIES)), max_size=20), st.integers(0, 20))
def test_moving_on_equals_starting_anew_and_a_copy_stays_behind(
    moves: list[tuple[bool, Body]], at: int
) -> None:
    state, standing = State(), dict[ObjectId, Body]()
    kept = (state.copy(), answers(state))
    for number, (is_there, body) in enumerate(moves):
        if number == at:
            kept = (state.copy(), answers(state))
        if is_there:
            standing[id_of(body)] = body
        else:
            standing.pop(id_of(body), None)
        move = state.apply(Event(number, "", id_of(body), body if is_there else None))
        anew = answers(State(standing.items()))
        assert answers(state) == anew
        slices = [b for b in standing.values() if b["kind"] == "EndpointSlice"]
        for piece in slices:
            for end in piece["endpoints"]:
                named = ObjectId("", "Pod", "shop", end["targetRef"]["name"])
                service = piece["metadata"]["labels"]["kubernetes.io/service-name"]
                assert ObjectId("", "Service", "shop", service) in state.services_with(named)
        assert move.comes_or_goes or move.before is not None
    assert answers(kept[0]) == kept[1]
