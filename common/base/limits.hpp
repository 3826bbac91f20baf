// Every limit of the product, with its name and default. docs/limits.md lists them for users; a test compares the two.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tafel::limits {

// Values and names
inline constexpr std::size_t value_depth_max = 32;         // nesting of lists and maps
inline constexpr std::size_t value_bytes_max = 32 * 1024;  // one value, in its canonical encoding
inline constexpr std::size_t value_items_max = 4096;       // items of one list, entries of one map
inline constexpr std::size_t key_bytes_max = 256;          // a map key
inline constexpr std::size_t path_bytes_max = 1024;        // a dot path as text
inline constexpr std::size_t path_segments_max = 32;
inline constexpr std::size_t board_id_bytes_max = 256;
inline constexpr std::size_t board_id_segments_max = 8;
inline constexpr std::size_t name_bytes_max = 128;     // actor ids, delta ids
inline constexpr std::size_t source_bytes_max = 2048;  // a delta's source, encoded

// Deltas
inline constexpr std::size_t delta_ops_max = 1024;
inline constexpr std::size_t delta_leaves_max = 4096;     // leaves and elements that one delta may speak of
inline constexpr std::size_t siblings_max = 256;          // unresolved concurrent values of one register
inline constexpr std::size_t suggestions_max = 16;        // held suggestions per field; the oldest is dropped
inline constexpr std::size_t rejudge_rounds_max = 8;      // passes over a delta with atomic: false
inline constexpr std::size_t delta_reads_max = 8;         // copy and move ops of one delta; each runs the ops before it
inline constexpr std::size_t revert_fields_max = 65'536;  // fields, gone ones too, that one revert looks at
inline constexpr std::size_t revert_steps_max = 65'536;   // changes of one actor that one revert walks back over
inline constexpr std::size_t current_bytes_max = 64 * 1024;  // values of `current` in one receipt
inline constexpr std::size_t current_elements_max = 256;     // a larger set or log is not repeated in a receipt

// Schemas
inline constexpr std::size_t schema_bytes_max = value_bytes_max;  // a schema document is a value
inline constexpr std::size_t schema_rules_max = 512;              // of one document
inline constexpr std::size_t schema_patterns_max = 64;            // of these with * or ** in their paths
inline constexpr std::size_t schema_enum_max = 256;               // values of one enum, states of one state machine
inline constexpr std::size_t schema_pattern_bytes_max = 512;      // a regular expression
inline constexpr std::size_t schema_defects_max = 20;  // defects of a document, offenders of a change, told at once
inline constexpr std::size_t schema_checked_boards_max = 1'000;   // boards that a change of schema may speak of
inline constexpr std::size_t schema_checked_cells_max = 200'000;  // fields, elements and entries held against it
inline constexpr std::size_t schema_kept_boards_max = 4'096;      // boards whose schema is kept in memory

// Expiry
inline constexpr std::size_t expiry_cells_max = 1'024;  // cells looked at in one transaction
inline constexpr std::int64_t tidy_interval_ms = 50;    // between two looks at what expires next, or is to be erased

// Erasure
inline constexpr std::size_t erasure_step_max = 256;  // records rewritten at once; four times as many are removed

// Retention
inline constexpr std::size_t retention_step_events = 128;         // events that one transaction takes out of the log
inline constexpr std::size_t retention_step_changes = 1'024;      // their changes, or cells looked at for a lost tag
inline constexpr std::size_t retention_step_bytes = 1024 * 1024;  // and their bytes
inline constexpr std::size_t retention_boards_max = 16;           // boards looked at in one turn
inline constexpr std::int64_t retention_interval_ms = 1'000;      // between two rounds over the boards
inline constexpr std::size_t retention_settled_max = 100'000;     // boards of which it is known that nothing is to do
inline constexpr std::size_t tags_per_board_max = 1'024;          // named versions

// Forks
inline constexpr std::size_t forks_depth_max = 16;           // forks of forks
inline constexpr std::size_t deletion_forks_named_max = 20;  // in the way of a deletion, named at once

// Idempotency
inline constexpr std::int64_t receipt_window_ms = 24LL * 3600 * 1000;
inline constexpr std::uint64_t receipts_per_board_max = 1'000'000;

// Messages
inline constexpr std::size_t request_bytes_max = 64 * 1024;        // one message to the request endpoint
inline constexpr std::size_t answer_bytes_max = 16 * 1024 * 1024;  // what a client accepts in one message
inline constexpr std::size_t receipts_bytes_max = 1024 * 1024;     // one message of receipts; more are split
inline constexpr std::size_t page_bytes = 256 * 1024;              // one page of a query answer or of catch-up
inline constexpr std::size_t message_objects_max = 32 * 1024;      // decoded objects of one message
inline constexpr std::size_t sessions_max = 10'000;                // peers with a session, per socket
inline constexpr std::int64_t session_idle_ms = 600'000;           // a peer that is silent for so long says hello again
inline constexpr std::int64_t session_idle_crowded_ms = 60'000;    // the same while the table of sessions is full
inline constexpr int request_send_queue = 16;  // messages that a socket holds for one peer that reads nothing
inline constexpr int query_send_queue = 2;
inline constexpr int feed_send_queue = 64;
inline constexpr std::size_t backlog_answers_max = 256;  // answers that wait for one peer whose queue is full
inline constexpr std::size_t backlog_bytes_max = 64 * 1024 * 1024;  // the same for all peers of a socket
inline constexpr std::size_t subscriptions_per_session_max = 1'024;
inline constexpr std::size_t subscription_paths_max = 64;

// Queries
inline constexpr std::size_t query_load_bytes = 8 * 1024 * 1024;  // cells read for one answer that is not paged
inline constexpr std::size_t query_turn_bytes = 1024 * 1024;      // answers made in one turn (the last may exceed it)
inline constexpr std::size_t queries_per_peer_max = 256;          // of these from one peer
inline constexpr std::size_t queries_waiting_max = 4'096;         // questions that wait for a later turn
inline constexpr std::size_t boards_page_max = 1'000;             // boards in one answer
inline constexpr std::size_t history_page_max = 256;              // revisions in one answer
inline constexpr std::size_t history_fields_max = 64;  // fields whose trails `history` follows; else it reads events
inline constexpr std::size_t history_page_events = 4'096;  // events that one page of `history` looks at
inline constexpr std::size_t diff_walk_events_max = 256;   // versions apart; above it fields are compared
inline constexpr std::size_t diff_page_fields = 16'384;    // fields that one page of a difference looks at
inline constexpr std::size_t touched_page_events = 4'096;  // events that one page of `touched` looks at

// Contexts
inline constexpr std::size_t context_budget_tokens_max = 10'000'000;
inline constexpr std::size_t context_turns_max = 1'000;      // turns that a request may ask for
inline constexpr std::size_t context_pinned_max = 256;       // pinned paths of a request
inline constexpr std::size_t context_omissions_max = 1'000;  // omissions listed one by one in a trace

// Commit
inline constexpr std::size_t batch_deltas_max = 1024;
inline constexpr std::size_t batch_bytes_max = 16 * 1024 * 1024;
inline constexpr std::size_t feed_queue_batches_max = 256;             // committed batches waiting for the feed thread
inline constexpr std::size_t feed_queue_bytes_max = 64 * 1024 * 1024;  // the messages that made them
inline constexpr std::size_t open_feed_boards_max = 4'096;             // boards that the open feed sends heartbeats for

// Feed
inline constexpr std::size_t feed_page_versions = 256;      // a page of catch-up ends at multiples of it, to be shared
inline constexpr std::size_t feed_probe_bytes = 4 * 1024;   // the first page for a peer that took nothing before
inline constexpr std::size_t feed_turn_pages = 8;           // pages of catch-up sent in one turn
inline constexpr std::size_t feed_tail_events_max = 1'024;  // newest events of a followed board kept encoded
inline constexpr std::size_t feed_tail_bytes_max = 256 * 1024;
inline constexpr std::size_t feed_pages_bytes_max = 32 * 1024 * 1024;  // pages of catch-up kept encoded, of all boards
inline constexpr std::size_t feed_retry_turns_max = 64;  // turns between two tries of a peer that takes nothing

// Store
inline constexpr std::size_t store_map_bytes = 64ULL * 1024 * 1024 * 1024;
inline constexpr std::size_t store_quota_bytes = 32ULL * 1024 * 1024 * 1024;
inline constexpr std::size_t store_readers_max = 128;
inline constexpr std::size_t store_idle_readers_max = 16;                // read transactions kept for the next reader
inline constexpr std::size_t store_value_bytes_max = 256 * 1024 * 1024;  // one record; a larger one in a file is damage
inline constexpr std::size_t store_checked_bytes_max = 256 * 1024 * 1024;  // a larger file is not walked at start
inline constexpr std::size_t store_reserve_bytes_min = 64 * 1024 * 1024;   // disk kept free, or a twentieth of it
inline constexpr std::size_t store_kept_events_min = 16;  // decoded events kept for as-of reads, a batch
inline constexpr std::size_t store_kept_events_max = 64;  // so many where their records are small: a long way back
inline constexpr std::size_t store_kept_events_bytes = 8 * 1024 * 1024;     // which is up to so much together
inline constexpr std::size_t store_written_events_max = 16384;              // decoded events that the writer keeps
inline constexpr std::size_t store_written_events_bytes = 8 * 1024 * 1024;  // of so many bytes in the log, together
inline constexpr std::size_t store_kept_records_bytes = 64 * 1024 * 1024;   // decoded cells that the writer keeps
inline constexpr int receipts_dropped_max = 4;  // expired receipts dropped with each new one

// Journal
inline constexpr std::size_t journal_bytes = 64 * 1024 * 1024;        // of its file
inline constexpr std::int64_t write_back_ms = 50;                     // a commit stays in the journal alone so long
inline constexpr std::size_t write_back_bytes = 4 * 1024 * 1024;      // or up to so much
inline constexpr std::size_t unwritten_bytes_max = 16 * 1024 * 1024;  // in memory until then; a larger commit passes by
inline constexpr int journal_reads_max = 8;                           // tries of a reader beside a server

// Backup
inline constexpr std::size_t copy_batch_bytes = 64 * 1024 * 1024;      // written in one transaction of a copy
inline constexpr std::uint64_t copy_progress_records = 16 * 1024;      // between two words of progress
inline constexpr std::size_t copy_meta_records_max = 1'000;            // more in the table of single records is damage
inline constexpr std::size_t export_readable_bytes_max = 1024 * 1024;  // a larger event is exported as its record only
inline constexpr std::size_t import_line_bytes_max = 384 * 1024 * 1024;  // one line of an export
inline constexpr std::size_t import_batch_bytes = 8 * 1024 * 1024;       // events taken in one transaction
inline constexpr std::size_t import_erasures_max = 1'000'000;            // of one board
inline constexpr std::size_t deep_defects_max = 100;                     // told by `verify --deep`; it stops there
inline constexpr std::size_t import_undo_records = 4'096;                // removed in one transaction
inline constexpr std::size_t ledger_line_bytes_max = 16 * 1024;          // one line of a ledger of erasures
inline constexpr std::int64_t ledger_ahead_ms_max = 86'400'000;   // how far beyond now an erasure of a ledger may be
inline constexpr std::int64_t time_max_ms = 253'402'300'799'999;  // of what is imported: the end of the year 9999

// Clients
inline constexpr std::size_t outbox_bytes_max = 256 * 1024 * 1024;  // deltas without a receipt, encoded
inline constexpr std::size_t submit_objects_max = 24 * 1024;        // of one submit message: below message_objects_max
inline constexpr std::size_t pending_queries_max = 1'024;           // questions without an answer yet
inline constexpr std::size_t watch_queue_events_max = 1'024;  // versions waiting for one watcher; then the log feeds it
inline constexpr std::size_t watch_queue_bytes_max = 8 * 1024 * 1024;
inline constexpr int stream_receive_queue = 16;          // messages that a socket holds for a watcher that stops
inline constexpr std::int64_t ping_ms = 5'000;           // between two pings on one connection
inline constexpr std::int64_t probe_ms = 1'000;          // silence while an answer is awaited, before a ping asks
inline constexpr std::int64_t answer_ms = 6'000;         // silence after a ping, before the connection is given up
inline constexpr std::int64_t link_down_ms = 2'000;      // the same when the ping could not even be sent
inline constexpr std::int64_t new_socket_ms = 5'000;     // without a connection, before a socket is made anew
inline constexpr std::int64_t greeting_ms_min = 2'000;   // wait for a welcome, doubled on each try …
inline constexpr std::int64_t greeting_ms_max = 30'000;  // … up to this
inline constexpr std::int64_t resend_ms = 10'000;        // without a receipt, before a delta is sent again, doubled …
inline constexpr std::int64_t resend_ms_max = 160'000;   // … up to this
inline constexpr std::int64_t retry_ms_min = 5;          // before what was put off is sent again, doubled …
inline constexpr std::int64_t retry_ms_max = 1'000;      // … up to this

// Command line
inline constexpr std::size_t input_line_bytes_max = 1024 * 1024;  // one line, or one request file, that tafel reads
inline constexpr std::size_t pipeline_deltas_max = 10'000;        // deltas in flight of `tafel apply --pipeline`

}  // namespace tafel::limits
