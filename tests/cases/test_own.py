"""Every case from bug reports of other tools, by its number, with tests of its kind that need no original."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
READING = "cases/test_reading.py"
ACTING = "cases/test_acting.py"
DIFF = "core/cases/diff"
OWN: dict[str, tuple[str, ...]] = {
    "01 octal-mode": (f"{READING}::test_integers_of_every_base",),
    "02 equals-scalar": (f"{READING}::test_signs_are_text",),
    "04 duplicate-map-key": (f"{READING}::test_a_key_that_stands_twice",),
    "05 big-integers": (
        f"{READING}::test_integers_keep_every_digit",
        f"{DIFF}/big-integers-keep-every-digit.yaml",
    ),
    "07 yes-no-keys": (f"{READING}::test_words_of_yaml_1_1_are_booleans_as_keys_too",),
    "08 timestamp-scalar": (f"{READING}::test_dates_and_times_stay_as_written",),
    "10 null-items-and-empty-docs": (f"{READING}::test_nothing_is_no_object_and_no_error",),
    "11 kind-ends-in-list": (f"{READING}::test_only_lists_are_unpacked",),
    "13 literal-without-final-newline": (f"{READING}::test_a_block_that_ends_with_the_file",),
    "15 json-escapes": (f"{READING}::test_escapes_of_json",),
    "17 broken-document-stops-prune": (
        f"{READING}::test_a_broken_document_makes_the_source_incomplete",
        "e2e/test_bad_input.py::test_bad_document_is_told_left_out_and_prunes_nothing",
    ),
    "18 quantity-normalised": (
        f"{DIFF}/quantity-in-two-spellings.yaml",
        f"{DIFF}/text-that-looks-like-a-quantity.yaml",
    ),
    "19 duplicate-env-names": (
        f"{DIFF}/duplicate-env-name.yaml",
        "core/test_refused.py::test_base_with_an_entry_twice_is_compared_like_any_other",
    ),
    "21 empty-env-value": (f"{DIFF}/empty-is-absent-where-it-means-nothing.yaml",),
    "23 aggregated-clusterrole": (
        f"{DIFF}/rules-of-an-aggregated-role.yaml",
        "core/cases/classify/aggregate-label-goes.yaml",
    ),
    "24 injected-cabundle": (
        f"{DIFF}/ca-bundle-filled-by-a-controller.yaml",
        f"{DIFF}/ca-bundle-in-git-wins.yaml",
    ),
    "25 claim-template-defaults": (f"{DIFF}/claim-templates-come-back-filled.yaml",),
    "26 dunder-key-invisible": (f"{DIFF}/keys-with-two-underscores.yaml",),
    "27 list-order-means-something": (
        f"{DIFF}/order-that-means-something.yaml",
        f"{DIFF}/order-of-rules-and-verbs.yaml",
        "core/test_diff.py::test_server_answers_in_another_order",
    ),
    "29 field-added-by-hand": (
        f"{DIFF}/field-of-somebody-else-stays.yaml",
        f"{DIFF}/selector-changed-by-hand.yaml",
        "core/test_strangers.py",
    ),
    "30 stuck-after-client-side-apply": (
        "corpus_live/test_removal.py::test_object_of_client_side_apply_is_taken_over_whole",
        "corpus_live/test_helm.py::test_what_helm_declared_and_git_lacks_goes_and_all_else_stays",
    ),
    "32 api-group-move": ("core/test_identity.py",),
    "34 protected-namespaces": (
        f"{ACTING}::test_34_namespace_of_the_cluster_itself_is_let_go_without_a_delete",
    ),
    "36 empty-source": (
        "shell/test_repo.py::test_an_empty_source",
        "shell/test_tick_status.py::test_a_revision_that_cannot_be_read_is_told_until_it_is_mended",
    ),
    "37 prune-scope": (f"{ACTING}::test_37_only_members_go_whatever_labels_others_carry",),
    "39 crd-prune-takes-data": (
        f"{ACTING}::test_39_objects_then_their_operator_then_their_definition",
        f"{ACTING}::test_39_a_definition_stays_while_an_object_of_somebody_is_there",
    ),
    "40 webhook-before-its-backend": (f"{ACTING}::test_40_webhook_comes_once_its_backend_serves",),
    "41 stale-observed-generation": ("core/test_health.py::test_deployment",),
    "42 zero-replicas": (f"{ACTING}::test_42_nothing_wanted_is_ready",),
    "44 ingress-and-loadbalancer-never-ready": (f"{ACTING}::test_44_an_address_from_outside_holds_nothing",),
    "46 dead-conversion-webhook": (
        f"{ACTING}::test_46_conversion_moves_after_its_backend_and_a_dead_one_stops_no_other_kind",
    ),
    "47 immutable-selector": ("shell/test_replacement.py",),
    "49 cluster-ip-immutable": (
        f"{ACTING}::test_49_address_that_the_server_gave_is_no_drift_and_headless_is_named_as_made_anew",
        f"{DIFF}/allocated-fields-of-a-service.yaml",
    ),
    "50 large-crd": (f"{ACTING}::test_50_definition_larger_than_an_annotation_may_be",),
    "52 same-object-twice": (f"{READING}::test_the_same_object_twice",),
    "53 invalid-secret-leaks": (f"{READING}::test_refusals_of_a_secret_tell_no_value",),
    "55 stringdata-never-equal": (f"{DIFF}/string-data-is-folded.yaml",),
    "56 masked-secret-sent-to-server": (
        f"{ACTING}::test_56_a_secret_goes_to_the_server_whole_and_is_shown_by_digest",
    ),
    "58 branch-and-tag-same-name": ("shell/test_repo.py::test_branch_and_tag_of_one_name_are_told_apart",),
    "60 symlinks": (
        "shell/test_repo_links.py::test_links_within_the_commit_are_followed",
        "shell/test_repo_links.py::test_a_link_that_leads_nowhere_good_is_an_error",
        "shell/test_repo_links.py::test_a_link_in_a_circle_ends",
    ),
    "61 missed-poll": (
        "shell/test_schedule.py::test_times_that_pass_during_a_tick_are_told_and_are_not_made_up_for",
        "shell/test_repo.py::test_a_repo_that_does_not_answer",
    ),
}


def test_all_of_them_stand_here() -> None:
    assert len(OWN) == 41


@pytest.mark.parametrize("case", OWN)
def test_case_is_held_by_tests_of_its_own(case: str) -> None:
    assert [test for test in OWN[case] if not _is_there(test)] == []


def _is_there(test: str) -> bool:
    name, _, function = test.partition("::")
    file = TESTS / name
    if not file.is_file():
        return False
    if not function:
        return True
    nodes = ast.parse(file.read_text(encoding="utf-8")).body
    return function in {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
