#include "broker/feed_service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "broker/answers.hpp"
#include "broker/deletion.hpp"
#include "broker/feed_table.hpp"
#include "broker/queries.hpp"
#include "broker/schemas.hpp"
#include "common/base/check.hpp"
#include "common/base/limits.hpp"

namespace tafel::broker {
namespace {

using Events = std::span<const std::shared_ptr<const Event>>;

std::string encoded(std::string_view type, std::uint64_t id, Map body) {
  return codec::encode_message({std::string(type), id, std::move(body)});
}

// What followers get of versions that were just committed; those with the same lens and the same position share it.
class RunPages {
 public:
  RunPages(const std::string& board, Events run) : board_(board), run_(run) {}

  // The versions from `first` on, which lies in the run.
  const std::vector<FeedPage>& for_lens(const Lens& lens, Version first) {
    const auto [at, is_new] = pages_.try_emplace({&lens, first});
    if (is_new) {
      const std::vector<std::string>& encodings = encodings_for(lens);
      const std::vector<std::string_view> views(
          encodings.begin() + static_cast<std::ptrdiff_t>(first - run_.front()->version), encodings.end());
      at->second = make_pages(board_, first, views, limits::page_bytes);
    }
    return at->second;
  }
  const std::vector<std::string>& encodings_for(const Lens& lens) {
    const auto [at, is_new] = encodings_.try_emplace(&lens);
    if (is_new) {
      for (const auto& event : run_) at->second.push_back(lens.encode(*event));
    }
    return at->second;
  }

 private:
  const std::string& board_;
  Events run_;
  std::map<const Lens*, std::vector<std::string>> encodings_;
  std::map<std::pair<const Lens*, Version>, std::vector<FeedPage>> pages_;
};

}  // namespace

struct FeedService::State {
  State(store::Store& the_store, const RoleTable& the_roles, codec::Welcome welcome)
      : store(the_store), roles(the_roles), sessions(std::move(welcome)), pages(limits::feed_pages_bytes_max) {}

  std::optional<std::string> answer(const Inbound& inbound, std::int64_t steady_ms);
  std::optional<std::string> subscribe(const PeerId& peer, const codec::Message& message, const std::string& actor);
  std::string unsubscribe(const PeerId& peer, const codec::Message& message);

  void publish(const std::vector<std::shared_ptr<const Event>>& events, const Send& send);
  void forget_before(FollowedBoard& board, Version version);
  void publish_board(FollowedBoard& board, const Send& send);
  void outdate(const Event& event);
  void outdate_below(const std::string& above);
  void outdate_below_deleted(const std::string& board);
  bool is_open(const std::string& board);
  void publish_run(FollowedBoard& board, Events run, const Send& send);
  SendResult deliver(Subscription& subscription, Version first, RunPages& run_pages, const Send& send);
  static void keep_tail(FollowedBoard& board, Events run, RunPages& run_pages);

  bool catch_up(const Send& send);
  SendResult advance(Subscription& subscription, const Send& send);
  SendResult feed(Subscription& subscription, const Send& send);
  SendResult resync(Subscription& subscription, const Send& send);
  Result<FeedPage> next_of(const Subscription& subscription);
  Result<FeedPage> page_from_log(const Subscription& subscription, Version first, std::size_t bytes_max);

  void heartbeat(std::int64_t steady_ms, const Send& send);
  void watch_heads();
  SendResult send_page(Subscription& subscription, const FeedPage& page, const Send& send);
  SendResult send_to(const PeerId& peer, std::string_view bytes, const Send& send);
  void drop_gone();

  store::Store& store;
  const RoleTable& roles;
  Sessions sessions;
  FeedTable table;
  FeedPages pages;
  std::map<std::string, bool> open_boards;  // whose schemas were looked at; none once a schema has changed
  std::set<PeerId> gone;                    // found so while others were being served
  Stats stats;
};

// --- what clients ask ---

std::optional<std::string> FeedService::State::answer(const Inbound& inbound, std::int64_t steady_ms) {
  const auto message = codec::decode_message(inbound.bytes);
  if (!message) return codec::encode_message(undecodable(inbound.bytes, message.error()));
  if (message->type == codec::message::hello)
    return codec::encode_message(sessions.greet(inbound.peer, *message, steady_ms));
  const Session* session = sessions.find(inbound.peer, steady_ms);
  if (session == nullptr) return codec::encode_message(no_session(message->id));
  if (message->type == codec::message::ping) return codec::encode_message(pong(message->id));
  if (message->type == codec::message::subscribe) return subscribe(inbound.peer, *message, session->actor);
  if (message->type == codec::message::unsubscribe) return unsubscribe(inbound.peer, *message);
  return codec::encode_message(bad_request(
      message->id,
      "the feed endpoint takes hello, ping, subscribe and unsubscribe, not " + brief(Value(message->type))));
}

std::optional<std::string> FeedService::State::subscribe(const PeerId& peer, const codec::Message& message,
                                                         const std::string& actor) {
  const auto refuse = [&](ErrorInfo error) { return codec::encode_message(codec::error_message(message.id, error)); };
  const auto asked = codec::subscribe_from_value(message.body);
  if (!asked) return codec::encode_message(bad_request(message.id, asked.error().message));
  Rights rights = roles.rights_of(actor, asked->board);
  if (!rights.may_read_anything()) {
    return refuse(
        error_of(ErrorCode::forbidden, fmt::format("{} may read nothing on the board {}", actor, asked->board)));
  }
  Subscription* const older = table.find(peer, asked->board);
  const Follower* const follower = table.find_follower(peer);
  if (older == nullptr && follower != nullptr &&
      follower->subscriptions.size() >= limits::subscriptions_per_session_max) {
    return refuse(error_of(ErrorCode::too_large,
                           fmt::format("a connection follows at most {} boards: unsubscribe from others first",
                                       limits::subscriptions_per_session_max)));
  }
  const auto snapshot = store.snapshot();
  if (!snapshot) return refuse(error_of(snapshot.error()));
  const auto read = (*snapshot)->head(asked->board);
  if (!read) return refuse(error_of(read.error()));
  const auto deletion = (*snapshot)->deletion(asked->board);
  if (!deletion) return refuse(error_of(deletion.error()));
  if (*deletion) return refuse(deleted_error(asked->board, **deletion, rights));
  const Head head = read->value_or(Head{});
  if (asked->from > head.version) {
    ErrorInfo error = error_of(
        ErrorCode::future_base,
        fmt::format("the board is at version {}; version {} does not exist yet. A copy that has it is of another "
                    "store and must be read anew",
                    head.version, asked->from));
    error.found = Value(head.version);
    return refuse(std::move(error));
  }
  const Version floor = followable_from(head);
  if (asked->from < floor)
    return encoded(codec::message::resync, message.id, {{"board", asked->board}, {"floor", floor}});

  if (rights.needs_schema()) {
    const auto schema = read_schema(**snapshot, asked->board);
    if (!schema) return refuse(error_of(schema.error()));
    rights = rights.under(schema->schema);
  }

  if (older != nullptr) table.remove(*older);
  std::vector<Path> paths;
  for (const std::string& text : asked->paths) paths.push_back(*Path::parse(text));
  Subscription& subscription = table.add(peer, asked->board, std::move(paths), std::move(rights), actor, asked->from);
  subscription.ask = message.id;
  subscription.head_at_ask = head.version;
  // Versions above this head were not committed when it was read: they are still to be published.
  subscription.board.known = std::max(subscription.board.known, head.version);
  return std::nullopt;
}

std::string FeedService::State::unsubscribe(const PeerId& peer, const codec::Message& message) {
  const Value* member = message.body.find("board");
  const auto* board = member == nullptr ? nullptr : member->get_if<std::string>();
  if (board == nullptr) return codec::encode_message(bad_request(message.id, "unsubscribe: \"board\" must be text"));
  if (Subscription* subscription = table.find(peer, *board)) table.remove(*subscription);
  return encoded(codec::message::unsubscribed, message.id, {{"board", *board}});
}

// --- new versions, to those who are live ---

void FeedService::State::publish(const std::vector<std::shared_ptr<const Event>>& events, const Send& send) {
  std::vector<FollowedBoard*> boards;
  for (const auto& event : events) outdate(*event);
  for (const auto& event : events) {
    FollowedBoard* board = table.find_board(event->board);
    if (board == nullptr) continue;
    if (board->batch.empty()) boards.push_back(board);
    board->batch.push_back(event);
    if (takes_fields(*event)) forget_before(*board, event->version);
  }
  for (FollowedBoard* board : boards) publish_board(*board, send);
  drop_gone();
}

// A schema says what is personal or secret. Followers who might see more or less than before begin anew.
void FeedService::State::outdate(const Event& event) {
  if (takes_board(event)) return outdate_below_deleted(event.board);
  const auto speaks_of = [&](std::string_view path) {
    return std::any_of(event.changes.begin(), event.changes.end(), [&](const LoggedChange& logged) {
      return logged.change.key.path.is_reserved() && logged.change.key.path.text() == path;
    });
  };
  if (speaks_of(schema_of_board) || speaks_of(schema_of_below)) open_boards.clear();
  if (speaks_of(schema_of_board)) table.outdate(event.board);
  if (speaks_of(schema_of_below)) outdate_below(event.board);
}

void FeedService::State::outdate_below(const std::string& above) {
  std::vector<std::string> below;
  for (const auto& [id, board] : table.boards()) {
    if (lies_below(id, above)) below.push_back(id);
  }
  for (const std::string& id : below) table.outdate(id);
}

// Its schema is gone with it. Who may see the board's own last events is what was known before.
void FeedService::State::outdate_below_deleted(const std::string& board) {
  std::erase_if(open_boards, [&](const auto& known) { return lies_below(known.first, board); });
  outdate_below(board);
}

bool FeedService::State::is_open(const std::string& board) {
  const Rights rights = roles.rights_of("*", board);
  if (!rights.may_read_everything() || !rights.needs_schema()) return rights.may_read_everything();
  if (const auto known = open_boards.find(board); known != open_boards.end()) return known->second;
  const auto snapshot = store.snapshot();
  if (!snapshot) return false;
  const auto deletion = (*snapshot)->deletion(board);
  if (!deletion || *deletion) return false;  // what its schema kept back can not be known any more
  const auto schema = read_schema(**snapshot, board);
  if (!schema) return false;
  if (open_boards.size() >= limits::schema_kept_boards_max) open_boards.clear();
  return open_boards[board] = rights.under(schema->schema).may_read_everything();
}

// Nothing encoded of the versions before may be sent any more: it may hold what was erased.
void FeedService::State::forget_before(FollowedBoard& board, Version version) {
  board.floor = std::max(board.floor, version - 1);
  board.tail.clear();
  pages.forget(board.id);
}

void FeedService::State::publish_board(FollowedBoard& board, const Send& send) {
  const auto batch = std::exchange(board.batch, {});
  for (std::size_t begin = 0; begin < batch.size();) {
    std::size_t end = begin + 1;
    while (end < batch.size() && batch[end]->version == batch[end - 1]->version + 1) ++end;
    publish_run(board, Events(batch).subspan(begin, end - begin), send);
    begin = end;
  }
}

// `run` has no gap inside; there may be one before it, and followers may have had a part of it from the log.
void FeedService::State::publish_run(FollowedBoard& board, Events run, const Send& send) {
  const Version first = run.front()->version;
  const Version last = run.back()->version;
  board.known = std::max(board.known, last);
  RunPages run_pages(board.id, run);
  for (std::size_t i = 0; i < board.live.size();) {
    Subscription& subscription = *board.live[i];
    const bool has_all = subscription.position >= last;
    if (has_all || deliver(subscription, first, run_pages, send) != SendResult::full) {
      ++i;
    } else {
      table.fall_behind(subscription);  // another one has its place now
    }
  }
  keep_tail(board, run, run_pages);
}

// `full` where the follower must be fed from the log: it takes nothing more, or misses what came before the run.
SendResult FeedService::State::deliver(Subscription& subscription, Version first, RunPages& run_pages,
                                       const Send& send) {
  if (subscription.follower.is_full || subscription.position + 1 < first) return SendResult::full;
  for (const FeedPage& page : run_pages.for_lens(*subscription.lens, subscription.position + 1)) {
    const auto result = send_page(subscription, page, send);
    if (result == SendResult::full) table.was_full(subscription.follower);
    if (result != SendResult::sent) return result;
  }
  return SendResult::sent;
}

void FeedService::State::keep_tail(FollowedBoard& board, Events run, RunPages& run_pages) {
  if (board.whole_subscriptions == 0) return board.tail.clear();
  const auto whole = board.whole_lens();
  const std::vector<std::string>& encodings = run_pages.encodings_for(*whole);
  for (std::size_t i = 0; i < run.size(); ++i) board.tail.add(run[i]->version, encodings[i]);
}

// --- what is in the log, to those who are behind ---

bool FeedService::State::catch_up(const Send& send) {
  table.begin_turn();
  for (std::size_t i = 0; i < limits::feed_turn_pages; ++i) {
    const auto peer = table.next();
    if (!peer) break;
    Follower& follower = *table.find_follower(*peer);
    Subscription& subscription = *follower.behind.front();
    std::rotate(follower.behind.begin(), follower.behind.begin() + 1, follower.behind.end());
    const SendResult result = advance(subscription, send);
    Follower* const still = table.find_follower(*peer);  // its last subscription may have ended
    if (still != nullptr && result == SendResult::sent) table.took(*still);
    if (still != nullptr && result == SendResult::full) table.was_full(*still);
    drop_gone();
    table.give_back(*peer);
  }
  return table.has_next();
}

// One step of one subscription: first its `subscribed`; then a page, or `live` when nothing is missing. The
// subscription may be gone afterwards.
SendResult FeedService::State::advance(Subscription& subscription, const Send& send) {
  const PeerId& peer = subscription.follower.peer;
  const FollowedBoard& board = subscription.board;
  if (!subscription.is_announced) {
    const std::string message = encoded(codec::message::subscribed, subscription.ask,
                                        {{"board", board.id},
                                         {"epoch", store.epoch()},
                                         {"head", subscription.head_at_ask},
                                         {"from", subscription.position}});
    if (const auto result = send_to(peer, message, send); result != SendResult::sent) return result;
    subscription.is_announced = true;
  }
  if (subscription.is_outdated) return resync(subscription, send);
  if (subscription.position < board.known) return feed(subscription, send);
  const std::string message =
      encoded(codec::message::live, 0, {{"board", board.id}, {"version", subscription.position}});
  const auto result = send_to(peer, message, send);
  if (result == SendResult::sent) table.go_live(subscription);
  return result;
}

SendResult FeedService::State::feed(Subscription& subscription, const Send& send) {
  const auto next = next_of(subscription);
  if (next) return send_page(subscription, *next, send);
  if (next.error().fault == Fault::not_found) return resync(subscription, send);
  ++stats.failures;
  return SendResult::full;  // tried again later
}

// Ends a subscription that needs versions which are not kept any more. Of a deleted board there is nothing to be read
// anew.
SendResult FeedService::State::resync(Subscription& subscription, const Send& send) {
  const FollowedBoard& board = subscription.board;
  std::string message =
      encoded(codec::message::resync, subscription.ask, {{"board", board.id}, {"floor", board.floor}});
  const auto snapshot = store.snapshot();
  const auto deletion = snapshot ? (*snapshot)->deletion(board.id) : tl::unexpected(snapshot.error());
  if (deletion && *deletion) {
    const ErrorInfo error = deleted_error(board.id, **deletion, subscription.lens->rights());
    message = codec::encode_message(codec::error_message(subscription.ask, error));
  }
  const auto result = send_to(subscription.follower.peer, message, send);
  if (result == SendResult::sent) table.remove(subscription);
  return result;
}

// The page that follows what was sent. The log is read only for what no cache holds. Fault::not_found: it is gone from
// the log too.
Result<FeedPage> FeedService::State::next_of(const Subscription& subscription) {
  const FollowedBoard& board = subscription.board;
  const std::size_t bytes_max = subscription.follower.page_bytes;
  const Version first = subscription.position + 1;
  if (first <= board.floor) return fail(Fault::not_found, "what is wanted was erased meanwhile");
  if (subscription.lens->is_whole()) {
    if (board.tail.holds(first)) return make_page(board.id, first, board.tail.from(first, bytes_max));
    if (bytes_max == limits::page_bytes) {
      if (const FeedPage* page = pages.find(board.id, first)) return *page;
    }
  }
  return page_from_log(subscription, first, bytes_max);
}

Result<FeedPage> FeedService::State::page_from_log(const Subscription& subscription, Version first,
                                                   std::size_t bytes_max) {
  FollowedBoard& board = subscription.board;
  // All whole pages end at the same versions, wherever their followers began: so they can be shared.
  const Version border =
      (first - 1) / limits::feed_page_versions * limits::feed_page_versions + limits::feed_page_versions;
  const Version to = std::min(border, board.known);
  const auto snapshot = store.snapshot();
  if (!snapshot) return tl::unexpected(snapshot.error());
  const auto head = (*snapshot)->head(board.id);
  if (!head) return tl::unexpected(head.error());
  board.floor = std::max(board.floor, followable_from(head->value_or(Head{})));
  if (first <= board.floor) return fail(Fault::not_found, "the log begins above the version that is wanted");
  const auto records = (*snapshot)->event_records(board.id, first, to, bytes_max);
  if (!records) return tl::unexpected(records.error());
  std::vector<std::string> encodings;
  for (const std::string& record : *records) {
    const auto event = codec::decode_event(record);
    if (!event) return tl::unexpected(event.error());
    if (event->version != first + encodings.size()) return fail(Fault::bad_bytes, "the log has a gap");
    encodings.push_back(subscription.lens->encode(*event));
  }
  if (encodings.empty()) return fail(Fault::bad_bytes, "the log lacks a version below the head");
  const FeedPage page = make_page(board.id, first, {encodings.begin(), encodings.end()});
  const bool is_cut_by_head = page.last == to && to != border;
  if (subscription.lens->is_whole() && bytes_max == limits::page_bytes && !is_cut_by_head) pages.add(board.id, page);
  return page;
}

// --- every second ---

void FeedService::State::heartbeat(std::int64_t steady_ms, const Send& send) {
  watch_heads();
  for (auto& [peer, follower] : table.followers()) {
    sessions.find(peer, steady_ms);  // one who follows something is not silent: it may have nothing to say
    Map heads;
    for (const auto& [board, subscription] : follower.subscriptions) {
      if (subscription->is_announced) heads.emplace_back(board, subscription->position);
    }
    const auto result = send_to(peer, encoded(codec::message::heartbeat, 0, {{"heads", std::move(heads)}}), send);
    if (result == SendResult::sent && follower.is_full) table.wake(follower);
  }
  drop_gone();
  sessions.drop_idle(steady_ms, limits::session_idle_ms);
}

// Finds versions that were committed before the heartbeat before this one and still did not come through publish: they
// never will.
void FeedService::State::watch_heads() {
  const auto snapshot = store.snapshot();
  for (auto& [id, board] : table.boards()) {
    board.tail.age();
    board.known = std::max(board.known, board.head_at_heartbeat);
    for (std::size_t i = 0; i < board.live.size();) {
      if (board.live[i]->position < board.head_at_heartbeat) {
        table.fall_behind(*board.live[i]);  // another one has its place now
      } else {
        ++i;
      }
    }
    const auto head = snapshot ? (*snapshot)->head(id) : tl::unexpected(snapshot.error());
    if (head) {
      board.head_at_heartbeat = head->value_or(Head{}).version;
    } else {
      ++stats.failures;
    }
  }
}

SendResult FeedService::State::send_page(Subscription& subscription, const FeedPage& page, const Send& send) {
  TAFEL_CHECK(page.first == subscription.position + 1, "no version is left out or sent twice");
  const auto result = send_to(subscription.follower.peer, *page.message, send);
  if (result == SendResult::sent) {
    subscription.position = page.last;
    stats.events_sent += page.events();
  }
  return result;
}

SendResult FeedService::State::send_to(const PeerId& peer, std::string_view bytes, const Send& send) {
  if (gone.contains(peer)) return SendResult::gone;
  const SendResult result = send(peer, bytes);
  if (result == SendResult::sent) ++stats.messages_sent;
  if (result == SendResult::gone) gone.insert(peer);
  return result;
}

void FeedService::State::drop_gone() {
  for (const PeerId& peer : gone) {
    table.drop(peer);
    sessions.forget(peer);
  }
  gone.clear();
}

// --- the service ---

FeedService::FeedService(store::Store& store, const RoleTable& roles, codec::Welcome welcome)
    : state_(std::make_shared<State>(store, roles, std::move(welcome))) {}

std::vector<Outbound> FeedService::handle(const std::vector<Inbound>& messages, std::int64_t steady_ms) {
  std::vector<Outbound> answers;
  for (const Inbound& inbound : messages) {
    if (auto answer = state_->answer(inbound, steady_ms)) answers.push_back({inbound.peer, std::move(*answer)});
  }
  return answers;
}

void FeedService::publish(const std::vector<std::shared_ptr<const Event>>& events, const Send& send) {
  state_->publish(events, send);
}

bool FeedService::is_open(const std::string& board) { return state_->is_open(board); }

bool FeedService::catch_up(const Send& send) { return state_->catch_up(send); }

void FeedService::heartbeat(std::int64_t steady_ms, const Send& send) { state_->heartbeat(steady_ms, send); }

const FeedService::Stats& FeedService::stats() const {
  state_->stats.subscriptions = state_->table.subscriptions();
  state_->stats.behind = state_->table.behind();
  state_->stats.peers = state_->table.followers().size();
  return state_->stats;
}

}  // namespace tafel::broker
