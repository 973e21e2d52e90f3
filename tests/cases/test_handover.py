"""The edge cases of a handover between generations, in the order of lists of them, each with its tests."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
EDGES: dict[str, tuple[str, ...]] = {
    "1 identity of a generation": (
        "shell/test_tick.test_a_commit_with_the_same_content_is_no_new_generation",
        "cases/test_acting.test_37_only_members_go_whatever_labels_others_carry",
    ),
    "2 three at once": (
        "shell/test_generations.test_a_newer_revision_takes_over_a_handoff_that_cannot_end",
        "shell/test_generations.test_a_revert_to_the_first_of_three_takes_it_up_again_and_makes_nothing_anew",
    ),
    "3 half made": ("shell/test_crash.test_killed_at_a_write_the_next_process_goes_on",),
    "4 made once": (
        "shell/test_crash.test_a_write_that_fails_once_is_made_good",
        "shell/test_two_agents.test_a_second_agent_at_some_writes_of_the_first_changes_nothing",
    ),
    "5 another kind of the same name": (
        "shell/test_replacement_ways.test_a_deployment_that_becomes_a_statefulset_of_its_name_stays_until_that_serves",
    ),
    "6 identity of an object": (
        "core/test_identity.test_other_version_or_group_of_one_stored_object_is_a_change_and_never_a_prune",
        "incidents/test_incidents.test_ours_keeps_the_promise_or_says_before_why_not",
    ),
    "7 the old one is let be": (
        "shell/test_handovers.test_the_old_generation_is_not_written_while_the_new_one_comes_up",
    ),
    "8 shared and different": (
        "shell/test_tick.test_widened_binding_names_both_and_the_final_one_only_the_new",
        "shell/test_generations.test_a_shared_list_is_the_union_of_all_three_until_the_last_of_the_old_is_gone",
    ),
    "9 rollout in place": (
        "core/test_health.test_deployment",
        "shell/test_hostile_labels.test_a_rollout_that_takes_the_pods_from_their_service_is_held_with_the_way_out",
    ),
    "10 what cannot change": (
        "shell/test_replacement.test_a_deployment_with_another_selector_comes_up_beside_the_old_pods_which_go_after_it_serves",
        "shell/test_replacement_ways.test_every_row_says_what_is_done_and_what_it_costs",
    ),
    "11 Jobs": (
        "shell/test_replacement_ways.test_a_job_is_made_anew_once_the_one_before_has_ended",
        "shell/test_passing.test_job_gone_by_its_ttl_is_not_made_again_until_git_changes_it",
    ),
    "12 stored versions": (
        "shell/test_storage.test_a_version_goes_after_every_object_was_rewritten_and_the_status_has_lost_it",
    ),
    "13 filled in at run time": (
        "shell/test_injected.test_a_bundle_that_somebody_else_holds_too_is_left_to_them",
        "shell/test_handovers.test_a_secret_that_a_controller_fills_is_neither_emptied_nor_pruned_by_the_next_generation",
    ),
    "14 changed by users": (
        "shell/test_tick.test_entries_that_git_never_had_are_kept_or_dropped_as_the_set_says",
    ),
    "15 room for both": (
        "core/test_evidence.test_quota_that_keeps_pods_from_being_made_is_told",
        "core/test_evidence.test_a_pod_says_why_it_is_not_ready",
    ),
    "16 ready, all and now": (
        "core/test_evidence.test_nothing_is_ready_before_it_exists",
        "core/test_evidence.test_an_object_of_a_kind_that_cannot_be_read_is_unknown",
    ),
    "17 never ready": (
        "shell/test_tick.test_never_ready_holds_and_a_revert_returns_to_the_old_release",
        "e2e/test_failures.test_new_server_never_ready_old_one_serves_and_a_revert_cleans_up",
    ),
    "18 ready, then not": (
        "shell/test_look_again.test_a_backend_that_is_lost_between_two_cutovers_gets_no_second_one",
        "e2e/test_failures.test_new_server_lost_before_the_cutover_is_held_again",
    ),
    "19 really reached": (
        "core/test_gates.test_what_moved_is_asked_with_real_requests",
        "shell/test_settle.test_a_webhook_that_does_not_answer_is_pointed_back_although_its_endpoints_are_ready",
    ),
    "20 who protects": ("shell/test_neighbours.test_a_successor_that_is_itself_going_protects_nothing",),
    "21 owners": (
        "shell/test_spared.test_an_owner_stays_while_garbage_collection_would_take_along_what_is_wanted",
    ),
    "22 this very object": (
        "shell/test_spared.test_a_delete_on_an_old_look_is_refused_by_what_was_written_in_between",
        "shell/test_spared.test_an_old_workload_that_was_made_anew_under_our_label_is_told_as_long_as_it_stands",
    ),
    "23 order of the deletes": (
        "core/test_sequence.test_users_go_before_what_they_use",
        "core/test_pruning.test_a_definition_goes_once_no_object_of_its_kind_is_left",
        "shell/test_absent.test_what_takes_data_along_still_needs_a_person",
    ),
    "24 retirement goes on": (
        "shell/test_absent.test_killed_at_a_write_the_removal_goes_on_to_the_same_end",
        "shell/test_spared.test_an_object_that_somebody_elses_object_came_to_own_is_left_and_told",
    ),
    "25 a late successor": (
        "shell/test_neighbours.test_a_successor_that_comes_in_the_middle_of_the_deletes_is_seen_before_the_next_one",
        "shell/test_neighbours.test_a_newer_commit_that_comes_in_the_middle_of_the_deletes_saves_what_it_names",
    ),
    "26 no successor": (
        "shell/test_absent.test_a_set_goes_whole_users_before_what_they_use_and_leaves_nothing",
        "shell/test_absent.test_in_the_middle_of_a_handoff_both_generations_go_once",
    ),
    "27 another namespace": (
        "e2e/test_handoff.test_new_server_ready_late_nothing_lost_no_state_broken",
        "shell/test_handovers.test_nothing_is_made_in_a_namespace_that_is_going_until_it_has_gone",
    ),
    "28 only another number": (
        "shell/test_spared.test_a_revision_with_the_same_content_moves_no_label_and_writes_no_object",
    ),
    "29 without the API that goes": (
        "shell/test_absent.test_an_api_goes_with_its_set_also_when_it_answers_no_more",
    ),
    "30 another version of the agent": (
        "core/test_ledger_format.test_a_ledger_that_an_older_version_wrote_is_read_whole",
        "core/test_ledger_format.test_a_newer_format_is_refused",
    ),
}


def test_all_of_them_stand_here() -> None:
    assert [int(edge.split()[0]) for edge in EDGES] == list(range(1, 31))


@pytest.mark.parametrize("edge", EDGES)
def test_edge_is_shown_by_tests(edge: str) -> None:
    assert [name for name in EDGES[edge] if not _is_test(name)] == []


def _is_test(name: str) -> bool:
    place, _, function = name.partition(".")
    nodes = ast.parse((TESTS / f"{place}.py").read_text(encoding="utf-8")).body
    return function in {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
