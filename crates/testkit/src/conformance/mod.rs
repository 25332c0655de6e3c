//! The requirements on every log: one case for each sentence of the ports' documentation.
//!
//! A log's test file names a [`Subject`], and [`log_conformance!`](crate::log_conformance) makes a
//! test of every case:
//!
//! ```text
//! moothall_testkit::log_conformance!(MySubject::fresh());
//! ```
#![allow(clippy::unwrap_used)]

pub mod build;
pub mod append;
pub mod claims;
pub mod reading;
pub mod catalog;
pub mod deliveries;
pub mod posts;
pub mod lasting;
pub mod erasing;
pub mod deleting;
pub mod ledger;
pub mod marks;
pub mod keys;
pub mod cards;
pub mod apps;
pub mod sessions;
pub mod search;
pub mod snapshots;
pub mod messages;
pub mod upkeep;

use async_trait::async_trait;
use moothall_engine::ports::{FullStore, Lease};
use moothall_kernel::ids::StreamId;
use moothall_kernel::time::Timestamp;

/// A log under test, with the changes that the suite makes from outside.
#[async_trait]
pub trait Subject: Sized + Send + Sync + 'static {
    /// The type of the log under test.
    type Log: FullStore;

    /// Returns the log, which is empty at first.
    fn log(&self) -> &Self::Log;

    /// Adds, behind the log's back, an event of a kind that only a newer version knows.
    async fn append_newer(&self, stream: &StreamId, ts: Timestamp, kind: &str);

    /// Gives the lease to another process. Returns false if the log has only one possible process,
    /// for example if a lock is the lease.
    fn lease(&self, _lease: Lease) -> bool {
        false
    }

    /// Drops the log without closing it and opens the same data again. Returns `None` for a log
    /// that is not meant to last.
    async fn reopen(self) -> Option<Self>;
}

/// Makes a test of every case of the suite. Takes an expression that makes a fresh [`Subject`].
#[macro_export]
macro_rules! log_conformance {
    ($fresh:expr) => {
        $crate::log_conformance! { @cases $fresh;
            append: a_stream_begins_with_its_first_append, an_append_that_begins_nothing_is_refused,
                an_append_goes_to_all_its_streams_or_to_none,
                batches_of_one_stream_follow_each_other, a_conflict_tells_the_head,
                a_gap_is_refused, an_append_of_nothing_changes_nothing,
                the_newest_writer_fences_the_others, what_another_process_holds_is_not_taken,
                a_lease_that_is_over_can_be_taken, a_stream_can_be_acquired_before_it_begins,
                writers_at_once_leave_no_gap;
            claims: a_claim_is_found_as_it_was_taken, a_held_claim_fails_the_whole_append,
                a_claim_fails_its_own_holder_too, a_claim_is_released_by_its_holder_alone,
                a_claim_passes_on_within_an_append, a_claim_lapses,
                a_lapsed_claim_can_be_taken_over, a_namespace_lists_its_claims,
                a_failed_append_neither_takes_nor_releases;
            reading: events_come_back_as_they_were, pages_join_without_a_gap,
                a_page_is_bounded_in_bytes, reading_past_the_end_gives_nothing,
                a_stream_that_did_not_begin_is_not_found, a_newer_kind_is_reported_and_left_out;
            catalog: the_row_is_that_of_the_last_append, streams_are_listed_in_creation_order,
                a_listing_is_paged, a_listing_is_filtered, a_listing_is_of_one_kind,
                a_listing_is_of_marked_streams,
                due_are_duties_and_passed_wakes, the_earliest_wake_of_all_is_next;
            deliveries: deliveries_are_inserted_with_their_append,
                each_target_is_served_first_in_first_out, what_is_over_does_not_block_its_target,
                a_delivery_advances_only_from_where_it_is,
                a_delivery_advances_from_whichever_state_is_named, deliveries_are_counted_by_state,
                open_deliveries_are_counted_by_target, a_target_knows_its_newest_deliveries,
                pending_deliveries_come_in_pages, a_command_is_kept_until_it_is_settled;
            posts: numbers_of_rows_rise_without_a_gap, a_refused_append_uses_no_number,
                numbers_and_marks_last, a_mark_moves_with_its_append,
                a_mark_that_does_not_follow_fails_the_whole_append,
                a_refused_append_takes_no_row, a_forgotten_computer_begins_again,
                all_posts_of_a_restored_log_are_in_doubt, deleting_removes_words_and_no_numbers;
            sessions: a_session_is_kept_as_it_was_last, who_waits_for_whom_is_noted_once,
                sessions_last;
            marks: a_mark_only_moves_forward, what_others_said_since_is_unread,
                marks_belong_to_one_reader_and_stream, marks_last;
            ledger: an_append_counts_what_its_events_cost, sums_are_those_that_are_wanted,
                what_was_charged_is_found_again;
            keys: a_token_is_found_as_it_was_kept, a_principal_stays_of_its_kind,
                revoking_reaches_what_was_made_from_a_token, an_invitation_is_redeemed_once,
                invitations_of_a_participant_are_canceled,
                sessions_that_ran_out_are_let_go_of, the_record_is_read_backwards_in_pages,
                tokens_last;
            cards: an_agent_registers_with_all_that_is_its, a_name_is_of_one_agent,
                who_is_known_does_not_register, cards_come_in_the_order_asked,
                an_agent_is_claimed_once, an_owner_lists_their_agents, a_list_of_agents_has_an_end,
                agents_are_listed_by_their_names_in_pages, a_freed_name_is_another_agents,
                keys_of_an_agent_are_revoked_together, cards_last;
            apps: an_app_is_the_agents_that_asks_first, an_agent_has_a_bounded_number_of_apps,
                an_app_is_given_and_freed, apps_are_listed_in_pages, apps_last;
            erasing: erased_words_are_not_read_again, words_are_erased_in_the_append_that_says_so,
                an_append_that_fails_erases_nothing, what_has_no_words_can_be_named,
                what_is_erased_stays_erased, summaries_are_erased_with_what_they_sum_up;
            deleting: a_deleted_stream_is_gone, deleting_frees_what_it_held,
                what_was_deleted_stays_deleted, a_deleted_stream_is_whole_and_found_no_more;
            messages: messages_are_read_backwards, erased_messages_keep_their_place;
            snapshots: loading_begins_at_the_snapshot, a_snapshot_is_of_one_version,
                a_snapshot_that_does_not_fit_is_not_kept,
                a_snapshot_goes_with_the_words_it_may_hold, snapshots_last;
            upkeep: a_walk_counts_what_is_whole, a_row_that_does_not_fit_its_events_is_a_fault,
                a_snapshot_that_its_events_do_not_make_is_a_fault, a_closed_log_takes_nothing_more;
            lasting: all_of_it_lasts, fences_last, delivery_ids_go_on_rising;
            search: words_and_phrases_are_found, snippets_show_the_matches, filters_narrow,
                only_what_was_said_to_all_is_found, hits_are_paged,
                hostile_queries_find_nothing_and_break_nothing, what_is_forgotten_is_found_no_more,
                the_index_lasts;
        }
    };
    (@cases $fresh:expr; $($module:ident: $($case:ident),+;)+) => {
        $($(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                $crate::conformance::$module::$case($fresh).await;
            }
        )+)+
    };
}
