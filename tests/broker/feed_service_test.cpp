#include "broker/feed_service.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "broker/feed_cache.hpp"
#include "common/base/limits.hpp"
#include "common/codec/cell_codec.hpp"
#include "tests/broker/service_fixture.hpp"
#include "tests/effort.hpp"

namespace tafel::broker::test {
namespace {

const std::string board = "acme/trips/42";

// What one follower knows of one board. Whatever the server does, its versions come one after another, none twice, none
// left out.
struct Copy {
  Version from = 0;
  bool is_wanted = false;  // by whoever drives the test; the server must agree in the end
  bool is_subscribed = false;
  bool is_live = false;
  bool is_whole = true;
  std::uint64_t lives = 0;
  blackboard::Board cells;
  std::vector<codec::FeedEvent> events;

  void take(const codec::FeedEvent& event, bool keeps_events) {
    ASSERT_TRUE(is_subscribed) << "version " << event.version << " before `subscribed`";
    ASSERT_EQ(event.version, cells.version() + 1);
    cells.apply(event.version, event.changes);
    if (is_whole) {
      ASSERT_TRUE(event.digest);
      ASSERT_EQ(*event.digest, cells.digest()) << "at version " << event.version;
    }
    if (keeps_events) events.push_back(event);
  }
};

// The other end of the feed: peers that take messages as they like, and check all that they get.
class Peers {
 public:
  struct Peer {
    std::size_t room = SIZE_MAX;  // messages that it takes before it is full
    bool is_gone = false;
    std::map<std::string, Copy> copies;
    std::vector<codec::Message> others;  // all but events
    std::size_t messages = 0;
  };

  Send send() {
    return [this](const PeerId& id, std::string_view bytes) {
      Peer& peer = peers[id];
      if (peer.is_gone) return SendResult::gone;
      if (peer.room == 0) return SendResult::full;
      if (peer.room != SIZE_MAX) --peer.room;
      ++peer.messages;
      receive(peer, bytes);
      return SendResult::sent;
    };
  }

  std::map<PeerId, Peer> peers;
  bool keeps_events = true;

 private:
  void receive(Peer& peer, std::string_view bytes) {
    const codec::Message message = decoded(bytes);
    const std::string id = text_of(at(message.body, "board"));
    if (message.type == codec::message::events) {
      const auto events = codec::events_from_value(message.body);
      ASSERT_TRUE(events) << events.error().message;
      ASSERT_FALSE(events->events.empty());
      for (const codec::FeedEvent& event : events->events) peer.copies[events->board].take(event, keeps_events);
      return;
    }
    Copy& copy = peer.copies[id];
    if (message.type == codec::message::subscribed) {
      ASSERT_FALSE(copy.is_subscribed);
      ASSERT_EQ(at(message.body, "from"), Value(copy.cells.version()));
      copy.is_subscribed = true;
    }
    if (message.type == codec::message::live) {
      ASSERT_TRUE(copy.is_subscribed);
      ASSERT_FALSE(copy.is_live && copy.lives > 0 && copy.cells.version() == copy.from) << "live twice in a row";
      ASSERT_EQ(at(message.body, "version"), Value(copy.cells.version()));
      copy.is_live = true;
      ++copy.lives;
      copy.from = copy.cells.version();
    }
    if (message.type == codec::message::heartbeat) check_heads(peer, *at(message.body, "heads").get_if<Map>());
    peer.others.push_back(message);
  }

  void check_heads(const Peer& peer, const Map& heads) {
    for (const auto& [id, version] : heads) {
      const auto copy = peer.copies.find(id);
      ASSERT_NE(copy, peer.copies.end());
      ASSERT_EQ(version, Value(copy->second.cells.version()));
    }
  }
};

class FeedServiceTest : public ::testing::Test {
 protected:
  FeedService& service() {
    if (!service_) service_ = std::make_unique<FeedService>(*fixture.store, fixture.roles, fixture.welcome());
    return *service_;
  }
  std::vector<codec::Message> say(const PeerId& peer, std::string_view type, Value body, std::int64_t steady_ms = 0) {
    std::vector<codec::Message> answers;
    for (const Outbound& answer : service().handle({{peer, message_bytes(type, 7, std::move(body))}}, steady_ms)) {
      EXPECT_EQ(answer.peer, peer);
      answers.push_back(decoded(answer.bytes));
    }
    return answers;
  }
  void greet(const PeerId& peer, const std::string& actor = "analyst") { service().handle({hello(peer, actor)}, 0); }
  // The answers that come at once: none where the subscription was accepted.
  std::vector<codec::Message> subscribe(const PeerId& peer, const std::string& id = board, Version from = 0,
                                        const std::vector<std::string>& paths = {}) {
    return say(peer, codec::message::subscribe, codec::to_value(codec::Subscribe{id, from, paths}));
  }
  void join(const PeerId& peer, const std::string& actor = "analyst", const std::vector<std::string>& paths = {}) {
    greet(peer, actor);
    EXPECT_TRUE(subscribe(peer, board, 0, paths).empty());
    if (!paths.empty()) copy_of(peer).is_whole = false;
    settle();
  }
  void settle() {
    for (int turns = 0; service().catch_up(net.send()); ++turns) ASSERT_LT(turns, 10'000);
  }
  void commit(const std::vector<std::string>& deltas, const std::string& id = board) {
    service().publish(fixture.commit(id, deltas), net.send());
  }
  Copy& copy_of(const PeerId& peer, const std::string& id = board) { return net.peers[peer].copies[id]; }
  std::string error_code(const std::vector<codec::Message>& answers) {
    EXPECT_EQ(answers.size(), 1U);
    return answers.empty() ? "" : text_of(at(answers[0].body, "code"));
  }
  std::vector<std::string> types(const PeerId& peer) {
    std::vector<std::string> names;
    for (const codec::Message& message : net.peers[peer].others) names.push_back(message.type);
    return names;
  }
  using Names = std::vector<std::string>;

  ServiceFixture fixture;
  Peers net;

 private:
  std::unique_ptr<FeedService> service_;
};

TEST_F(FeedServiceTest, ASubscriptionCatchesUpFromTheLogAndGoesLive) {
  fixture.commit(board, {R"({"set": {"a": 1}})", R"({"set": {"a": 2}})"});
  join("p");
  EXPECT_EQ(copy_of("p").cells.version(), 2U);
  EXPECT_EQ(types("p"), (Names{"subscribed", "live"}));
  const Value& subscribed = net.peers["p"].others[0].body;
  EXPECT_EQ(net.peers["p"].others[0].id, 7U);
  EXPECT_EQ(codec::to_json(subscribed), R"({"board":"acme/trips/42","epoch":"e0e1","from":0,"head":2})");
  commit({R"({"set": {"a": 3}})"});
  EXPECT_EQ(copy_of("p").cells.version(), 3U);
  EXPECT_EQ(copy_of("p").cells.digest(), fixture.head(board).digest);
}

TEST_F(FeedServiceTest, ABoardThatWasNeverWrittenToCanBeFollowed) {
  join("p");
  EXPECT_EQ(types("p"), (Names{"subscribed", "live"}));
  commit({R"({"set": {"a": 1}})"});
  EXPECT_EQ(copy_of("p").cells.version(), 1U);
}

TEST_F(FeedServiceTest, SubscribingFromAVersionSendsOnlyWhatFollows) {
  fixture.commit(board, {R"({"set": {"a": 1}})", R"({"set": {"a": 2}})", R"({"set": {"a": 3}})"});
  greet("p");
  copy_of("p").cells.set_version(2);
  copy_of("p").is_whole = false;  // what came before is not there
  subscribe("p", board, 2);
  settle();
  ASSERT_EQ(copy_of("p").events.size(), 1U);
  EXPECT_EQ(copy_of("p").events[0].version, 3U);
}

TEST_F(FeedServiceTest, ABatchIsOneMessageForEachFollower) {
  join("p");
  const std::size_t before = net.peers["p"].messages;
  commit({R"({"set": {"a": 1}})", R"({"set": {"a": 2}})", R"({"set": {"a": 3}})"});
  EXPECT_EQ(copy_of("p").cells.version(), 3U);
  EXPECT_EQ(net.peers["p"].messages, before + 1);
}

TEST_F(FeedServiceTest, ALargeBatchIsSplitIntoPages) {
  join("p");
  const std::string text(30'000, 'x');
  std::vector<std::string> deltas;
  for (int i = 0; i < 30; ++i) deltas.push_back(R"({"set": {"f)" + std::to_string(i) + R"(": ")" + text + R"("}})");
  const std::size_t before = net.peers["p"].messages;
  commit(deltas);
  EXPECT_EQ(copy_of("p").cells.version(), 30U);
  EXPECT_EQ(net.peers["p"].messages - before, 4U);  // 8 of them fit into a page
}

TEST_F(FeedServiceTest, OneEncodingServesAThousandFollowers) {
  for (int i = 0; i < 1'000; ++i) {
    greet("p" + std::to_string(i));
    subscribe("p" + std::to_string(i));
  }
  net.keeps_events = false;
  settle();
  std::set<const char*> encodings;
  const Send checked = net.send();
  std::size_t sent = 0;
  service().publish(fixture.commit(board, {R"({"set": {"a": 1}})"}), [&](const PeerId& peer, std::string_view bytes) {
    encodings.insert(bytes.data());
    ++sent;
    return checked(peer, bytes);
  });
  EXPECT_EQ(sent, 1'000U);
  EXPECT_EQ(encodings.size(), 1U);
}

// --- slow, gone, lost ---

TEST_F(FeedServiceTest, AFullFollowerMissesNothingAndIsLiveAgainAfterwards) {
  join("p");
  net.peers["p"].room = 0;
  for (int i = 0; i < 50; ++i) commit({R"({"set": {"a": )" + std::to_string(i) + "}}"});
  settle();
  EXPECT_EQ(copy_of("p").cells.version(), 0U);
  EXPECT_EQ(service().stats().behind, 1U);
  net.peers["p"].room = SIZE_MAX;
  for (std::size_t turn = 0; turn <= 2 * limits::feed_retry_turns_max; ++turn) service().catch_up(net.send());
  EXPECT_EQ(copy_of("p").cells.version(), 50U);
  EXPECT_EQ(service().stats().behind, 0U);
  EXPECT_EQ(types("p"), (Names{"subscribed", "live", "live"}));
}

TEST_F(FeedServiceTest, AFollowerThatTakesNothingIsTriedLessAndLessOftenAndAtOnceWhenItTookAHeartbeat) {
  join("p");
  net.peers["p"].room = 0;
  commit({R"({"set": {"a": 1}})"});
  std::size_t tries = 0;
  const Send refusing = [&](const PeerId&, std::string_view) {
    ++tries;
    return SendResult::full;
  };
  for (int turn = 0; turn < 1'000; ++turn) EXPECT_FALSE(service().catch_up(refusing));
  EXPECT_LT(tries, 30U);
  EXPECT_GT(tries, 10U);
  net.peers["p"].room = SIZE_MAX;
  service().heartbeat(0, net.send());
  settle();
  EXPECT_EQ(copy_of("p").cells.version(), 1U);
}

TEST_F(FeedServiceTest, OneFullFollowerCostsTheOthersNothing) {
  join("slow");
  join("quick");
  net.peers["slow"].room = 0;
  for (int i = 0; i < 20; ++i) commit({R"({"set": {"a": )" + std::to_string(i) + "}}"});
  EXPECT_EQ(copy_of("quick").cells.version(), 20U);
}

TEST_F(FeedServiceTest, APageOfABatchThatWasTakenIsNotSentAgain) {
  join("p");
  const std::string text(30'000, 'x');
  std::vector<std::string> deltas;
  for (int i = 0; i < 30; ++i) deltas.push_back(R"({"set": {"f)" + std::to_string(i) + R"(": ")" + text + R"("}})");
  net.peers["p"].room = 2;
  commit(deltas);
  EXPECT_EQ(copy_of("p").cells.version(), 16U);
  net.peers["p"].room = SIZE_MAX;
  for (std::size_t turn = 0; turn <= 2 * limits::feed_retry_turns_max; ++turn) service().catch_up(net.send());
  EXPECT_EQ(copy_of("p").cells.version(), 30U);
}

TEST_F(FeedServiceTest, AFollowerThatIsGoneIsForgottenWithItsSession) {
  join("p");
  join("q");
  net.peers["p"].is_gone = true;
  commit({R"({"set": {"a": 1}})"});
  EXPECT_EQ(service().stats().subscriptions, 1U);
  EXPECT_EQ(service().stats().peers, 1U);
  EXPECT_EQ(copy_of("q").cells.version(), 1U);
  EXPECT_EQ(error_code(say("p", codec::message::ping, Value())), "no_session");
}

TEST_F(FeedServiceTest, VersionsThatDidNotComeThroughPublishAreReadFromTheLog) {
  join("p");
  fixture.commit(board, {R"({"set": {"a": 1}})", R"({"set": {"a": 2}})"});  // lost on the way to the feed
  commit({R"({"set": {"a": 3}})"});
  EXPECT_EQ(copy_of("p").cells.version(), 0U);
  settle();
  EXPECT_EQ(copy_of("p").cells.version(), 3U);
}

TEST_F(FeedServiceTest, LostVersionsThatNothingFollowsAreFoundByHeartbeats) {
  join("p");
  fixture.commit(board, {R"({"set": {"a": 1}})"});
  service().heartbeat(1'000, net.send());
  settle();
  EXPECT_EQ(copy_of("p").cells.version(), 0U);  // it may still be on its way
  service().heartbeat(2'000, net.send());
  settle();
  EXPECT_EQ(copy_of("p").cells.version(), 1U);
}

TEST_F(FeedServiceTest, WhatCatchUpSentAlreadyIsNotPublishedAgain) {
  const auto first = fixture.commit(board, {R"({"set": {"a": 1}})"});
  const auto second = fixture.commit(board, {R"({"set": {"a": 2}})"});
  join("p");  // reads both from the log
  service().publish(first, net.send());
  service().publish(second, net.send());
  const auto third = fixture.commit(board, {R"({"set": {"a": 3}})"});
  std::vector<std::shared_ptr<const Event>> both = second;
  both.insert(both.end(), third.begin(), third.end());
  service().publish(both, net.send());
  EXPECT_EQ(copy_of("p").cells.version(), 3U);
}

// --- what is asked ---

TEST_F(FeedServiceTest, AVersionAboveTheHeadIsOfAnotherStore) {
  fixture.commit(board, {R"({"set": {"a": 1}})"});
  greet("p");
  const auto answers = subscribe("p", board, 2);
  EXPECT_EQ(error_code(answers), "future_base");
  EXPECT_EQ(at(answers[0].body, "found"), Value(1));
  EXPECT_EQ(service().stats().subscriptions, 0U);
}

TEST_F(FeedServiceTest, AVersionThatIsCommittedButNotYetPublishedCanBeFollowedFrom) {
  join("other");
  const auto events = fixture.commit(board, {R"({"set": {"a": 1}})"});
  greet("p");
  copy_of("p").cells.set_version(1);
  copy_of("p").is_whole = false;
  EXPECT_TRUE(subscribe("p", board, 1).empty());
  settle();
  service().publish(events, net.send());
  commit({R"({"set": {"a": 2}})"});
  EXPECT_EQ(copy_of("p").cells.version(), 2U);
  EXPECT_EQ(copy_of("other").cells.version(), 2U);
}

TEST_F(FeedServiceTest, MalformedQuestionsAreRefused) {
  greet("p");
  EXPECT_EQ(error_code(say("p", codec::message::subscribe, Value())), "bad_request");
  EXPECT_EQ(error_code(say("p", codec::message::subscribe, from_json(R"({"board": "a//b", "from": 0})"))),
            "bad_request");
  EXPECT_EQ(error_code(say("p", codec::message::subscribe, from_json(R"({"board": "a", "from": -1})"))), "bad_request");
  EXPECT_EQ(
      error_code(say("p", codec::message::subscribe, from_json(R"({"board": "a", "from": 0, "paths": ["b..c"]})"))),
      "bad_request");
  EXPECT_EQ(error_code(say("p", codec::message::unsubscribe, Value())), "bad_request");
  EXPECT_EQ(error_code(say("p", codec::message::submit, List{})), "bad_request");
  EXPECT_EQ(error_code(say("stranger", codec::message::subscribe, from_json(R"({"board": "a", "from": 0})"))),
            "no_session");
  EXPECT_EQ(say("p", codec::message::ping, Value()).at(0).type, "pong");
}

TEST_F(FeedServiceTest, AfterUnsubscribeNothingMoreComes) {
  join("p");
  const auto answers = say("p", codec::message::unsubscribe, from_json(R"({"board": "acme/trips/42"})"));
  EXPECT_EQ(answers.at(0).type, "unsubscribed");
  commit({R"({"set": {"a": 1}})"});
  settle();
  EXPECT_EQ(copy_of("p").cells.version(), 0U);
  EXPECT_EQ(service().stats().subscriptions, 0U);
  EXPECT_EQ(say("p", codec::message::unsubscribe, from_json(R"({"board": "acme/trips/42"})")).at(0).type,
            "unsubscribed");
}

TEST_F(FeedServiceTest, AnotherSubscribeReplacesTheOlderOne) {
  join("p");
  commit({R"({"set": {"a": 1}})", R"({"set": {"a": 2}})"});
  net.peers["p"].copies.clear();
  subscribe("p", board, 0);
  settle();
  commit({R"({"set": {"a": 3}})"});
  EXPECT_EQ(copy_of("p").cells.version(), 3U);
  EXPECT_EQ(service().stats().subscriptions, 1U);
}

TEST_F(FeedServiceTest, AConnectionFollowsABoundedNumberOfBoards) {
  greet("p");
  for (std::size_t i = 0; i < limits::subscriptions_per_session_max; ++i) {
    ASSERT_TRUE(subscribe("p", "acme/" + std::to_string(i)).empty());
  }
  EXPECT_EQ(error_code(subscribe("p", "acme/more")), "too_large");
  EXPECT_TRUE(subscribe("p", "acme/5").empty());  // replaces one
}

TEST_F(FeedServiceTest, AFollowerMayBeSilentAndOthersAreForgotten) {
  join("p");
  greet("q");
  for (std::int64_t now = 0; now <= 2 * limits::session_idle_ms; now += 10'000) service().heartbeat(now, net.send());
  EXPECT_EQ(say("p", codec::message::ping, Value(), 2 * limits::session_idle_ms).at(0).type, "pong");
  EXPECT_EQ(error_code(say("q", codec::message::ping, Value(), 2 * limits::session_idle_ms)), "no_session");
}

TEST_F(FeedServiceTest, HeartbeatsTellWhatEachFollowerWasSent) {
  join("p");
  commit({R"({"set": {"a": 1}})"});
  net.peers["p"].others.clear();
  service().heartbeat(0, net.send());
  ASSERT_EQ(net.peers["p"].others.size(), 1U);
  EXPECT_EQ(codec::to_json(net.peers["p"].others[0].body), R"({"heads":{"acme/trips/42":1}})");
}

// --- rights and filters ---

TEST_F(FeedServiceTest, AFilterShowsChangesBelowItsPathsAndEveryVersion) {
  join("p", "analyst", {"a", "c.d"});
  commit({R"({"set": {"a": {"b": 1}, "ab": 2}})", R"({"id": "x", "source": {"kind": "k"}, "set": {"z": 1}})",
          R"({"set": {"c": {"d": 1, "e": 2}}})"});
  const auto& events = copy_of("p").events;
  ASSERT_EQ(events.size(), 3U);
  ASSERT_EQ(events[0].changes.size(), 1U);
  EXPECT_EQ(events[0].changes[0].key.path.text(), "a.b");
  EXPECT_EQ(events[0].actor, "analyst");
  EXPECT_TRUE(events[1].changes.empty());
  EXPECT_EQ(events[1].actor + events[1].delta_id + events[1].source.kind, "");
  EXPECT_EQ(events[1].base, 0U);
  EXPECT_EQ(events[2].changes.size(), 1U);
  for (const auto& event : events) EXPECT_FALSE(event.digest);
}

TEST_F(FeedServiceTest, FiltersHoldForWhatComesFromTheLogToo) {
  fixture.commit(board, {R"({"set": {"a": 1, "b": 2}})", R"({"set": {"b": 3}})"});
  join("p", "analyst", {"a"});
  ASSERT_EQ(copy_of("p").events.size(), 2U);
  EXPECT_EQ(copy_of("p").events[0].changes.size(), 1U);
  EXPECT_TRUE(copy_of("p").events[1].changes.empty());
}

TEST_F(FeedServiceTest, WhoMayReadNothingMayNotFollow) {
  fixture.give_everything("analyst");
  fixture.give_role("eve", "other/**", {"**"});
  greet("p", "eve");
  EXPECT_EQ(error_code(subscribe("p")), "forbidden");
  greet("q", "nobody");
  EXPECT_EQ(error_code(subscribe("q")), "forbidden");
  EXPECT_EQ(service().stats().subscriptions, 0U);
}

TEST_F(FeedServiceTest, NothingOfAPathThatMayNotBeReadIsSentLiveOrFromTheLog) {
  fixture.give_everything("analyst");
  fixture.give_role("booker", "acme/**", {"open.**"});
  const std::vector<std::string> deltas{
      R"({"set": {"open": {"a": 1}, "secret": {"CANARY1": "CANARY2"}}})",
      R"({"id": "CANARY3", "source": {"kind": "turn", "ref": "CANARY4"}, "confidence": "verified", "set": {"secret": {"x": "CANARY5"}}})",
      R"({"patch": {"secret.set": {"add": ["CANARY6"]}}, "append": {"secret.log": "CANARY7"}})",
      R"({"confidence": "guess", "set": {"secret.x": "CANARY8"}})"};
  std::string bytes;
  const Send checked = net.send();
  const Send listening = [&](const PeerId& peer, std::string_view message) {
    bytes += message;
    return checked(peer, message);
  };
  for (const bool is_live : {true, false}) {
    const PeerId peer = is_live ? "live" : "late";
    greet(peer, "booker");
    copy_of(peer).is_whole = false;
    subscribe(peer);
    while (service().catch_up(listening)) {
    }
    if (is_live) service().publish(fixture.commit(board, deltas), listening);
    EXPECT_EQ(copy_of(peer).cells.version(), 4U);
    EXPECT_EQ(copy_of(peer).cells.cells().size(), 1U);
    EXPECT_EQ(bytes.find("CANARY"), std::string::npos) << peer;
  }
}

TEST_F(FeedServiceTest, FollowersWithDifferentRightsDoNotShareAnEncoding) {
  fixture.give_everything("analyst");
  fixture.give_role("booker", "acme/**", {"b"});
  fixture.give_role("critic", "acme/**", {"c"});
  for (const char* actor : {"analyst", "booker", "critic"}) {
    greet(actor, actor);
    copy_of(actor).is_whole = std::string(actor) == "analyst";
    subscribe(actor);
  }
  settle();
  commit({R"({"set": {"b": 1, "c": 2}})"});
  EXPECT_EQ(copy_of("analyst").cells.cells().size(), 2U);
  ASSERT_EQ(copy_of("booker").cells.cells().size(), 1U);
  EXPECT_EQ(copy_of("booker").cells.cells().begin()->first.path.text(), "b");
  ASSERT_EQ(copy_of("critic").cells.cells().size(), 1U);
  EXPECT_EQ(copy_of("critic").cells.cells().begin()->first.path.text(), "c");
}

// --- on a store that is a log only ---

// All that the feed needs of a store, and nothing else: the log. Versions are put there without judgement, so that
// thousands of histories take seconds; and history can be trimmed.
class LogStore final : public store::Store {
 public:
  // Makes the next version of a board: one register has a new value.
  std::shared_ptr<const Event> append(const std::string& id, const Path& path, Value value) {
    Log& log = logs_[id];
    auto event = std::make_shared<Event>();
    event->board = id;
    event->version = log.cells.version() + 1;
    event->time = static_cast<TimeMs>(event->version);
    event->actor = "analyst";
    event->salt = std::string(16, 's');
    Dot dot;
    dot.mark = {event->version, 0};
    dot.actor = event->actor;
    RegisterCell cell;
    cell.siblings.push_back({std::move(value), dot});
    event->changes.push_back({{leaf_key(path), std::move(cell)}, 0, 0});
    log.cells.apply(event->version, {event->changes[0].change});
    event->digest = log.cells.digest();
    log.records.push_back(codec::encode_event(*event));
    return event;
  }
  Head head_of(const std::string& id) const {
    const auto log = logs_.find(id);
    Head head;
    head.floor = floor;
    if (log != logs_.end()) head.version = log->second.cells.version();
    return head;
  }

  Version floor = 0;              // of every board
  mutable std::size_t reads = 0;  // of events

  const std::string& epoch() const override { return epoch_; }
  Result<std::unique_ptr<store::Snapshot>> snapshot() override { return std::make_unique<View>(*this); }
  Result<std::unique_ptr<store::Snapshot>> writer_snapshot() override { return snapshot(); }
  Result<std::unique_ptr<store::Batch>> begin() override { return fail(Fault::refused, "this store is a log only"); }
  Result<store::VerifyReport> verify(const std::string&) override {
    return fail(Fault::refused, "this store is a log only");
  }
  Result<store::Kv::Usage> usage() override { return fail(Fault::refused, "this store is a log only"); }
  Result<std::vector<store::Erasure>> erasures(std::uint64_t, std::size_t) override {
    return std::vector<store::Erasure>{};
  }

 private:
  struct Log {
    std::vector<std::string> records;
    blackboard::Board cells;
  };

  class View final : public store::Snapshot {
   public:
    explicit View(const LogStore& store) : store_(store) {}
    Result<std::optional<Head>> head(const std::string& id) override { return store_.head_of(id); }
    Result<std::vector<std::string>> event_records(const std::string& id, Version from, Version to,
                                                   std::size_t bytes_max) override {
      ++store_.reads;
      if (from <= store_.floor) return fail(Fault::bad_bytes, "it is gone");
      std::vector<std::string> found;
      std::size_t bytes = 0;
      for (Version version = from; version <= to; ++version) {
        const std::string& record = store_.logs_.at(id).records.at(static_cast<std::size_t>(version - 1));
        bytes += record.size();
        if (bytes > bytes_max && !found.empty()) break;
        found.push_back(record);
      }
      return found;
    }
    Result<std::optional<store::Deletion>> deletion(const std::string&) override { return std::nullopt; }
    Result<std::vector<store::BoardSummary>> boards(const std::string&, std::size_t) override {
      return std::vector<store::BoardSummary>{};
    }
    Result<std::vector<store::DeletedBoard>> deleted_boards(const std::string&, std::size_t) override {
      return std::vector<store::DeletedBoard>{};
    }
    Result<std::vector<std::shared_ptr<const Event>>> revisions(const std::string&, const Path&, Version, std::size_t,
                                                                std::size_t) override {
      return std::vector<std::shared_ptr<const Event>>{};
    }
    Result<CellPage> cells(const std::string&, const std::optional<Path>&, const std::string&, std::size_t) override {
      return CellPage{};
    }
    Result<std::vector<Path>> fields(const std::string&, const Path&, std::size_t) override {
      return std::vector<Path>{};
    }
    Result<DifferencePage> differences(const std::string&, const std::optional<Path>&, Version, Version,
                                       const std::optional<CellKey>&, std::size_t) override {
      return DifferencePage{};
    }
    Result<bool> keeps(const std::string&, Version version) override { return version >= store_.floor; }
    Result<blackboard::Board> load(const std::string&, const std::optional<Path>&, std::optional<Version>,
                                   std::size_t) override {
      return blackboard::Board{};
    }

   private:
    const LogStore& store_;
  };

  const std::string epoch_ = "e0e1";
  std::map<std::string, Log> logs_;
};

TEST_F(FeedServiceTest, WhoNeedsHistoryThatIsGoneIsToldToReadTheBoardAnew) {
  LogStore trimmed;
  for (int i = 1; i <= 3; ++i) trimmed.append(board, *Path::parse("a"), i);
  trimmed.floor = 2;
  FeedService feed(trimmed, fixture.roles, fixture.welcome());
  feed.handle({hello("p", "analyst")}, 0);
  const auto subscribe_from = [&](Version from) {
    return feed.handle(
        {{"p", message_bytes(codec::message::subscribe, 3, codec::to_value(codec::Subscribe{board, from, {}}))}}, 0);
  };
  const auto answers = subscribe_from(1);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(decoded(answers[0].bytes).type, "resync");
  EXPECT_EQ(codec::to_json(decoded(answers[0].bytes).body), R"({"board":"acme/trips/42","floor":2})");
  EXPECT_EQ(decoded(answers[0].bytes).id, 3U);

  // The same while it catches up: it was accepted, then the history went.
  EXPECT_TRUE(subscribe_from(2).empty());
  trimmed.floor = 3;
  copy_of("p").cells.set_version(2);
  while (feed.catch_up(net.send())) {
  }
  EXPECT_EQ(types("p"), (Names{"subscribed", "resync"}));
  EXPECT_EQ(net.peers["p"].others.back().id, 3U);
  EXPECT_EQ(feed.stats().subscriptions, 0U);
}

TEST_F(FeedServiceTest, ATrimmedLogTellsItsSlowFollowersToReadTheBoardAnew) {
  for (int i = 0; i < 5; ++i) commit({R"({"set": {"a": )" + std::to_string(i) + "}}"});
  join("p");
  net.peers["p"].room = 0;
  commit({R"({"ops": [{"op": "retain", "path": "$retention", "value": {"versions": 1}}]})"});
  for (std::size_t i = 0; i < limits::feed_tail_events_max + 5; ++i)
    commit({R"({"set": {"a": )" + std::to_string(i) + "}}"});
  settle();
  const TimeMs later = fixture.now + 10 * limits::retention_interval_ms;
  for (auto more = fixture.pipeline->trim(later); more.value(); more = fixture.pipeline->trim(later)) ASSERT_TRUE(more);
  ASSERT_GT(fixture.head(board).floor, 5U);
  net.peers["p"].room = SIZE_MAX;
  for (std::size_t turn = 0; turn <= 2 * limits::feed_retry_turns_max; ++turn) service().catch_up(net.send());
  EXPECT_EQ(types("p").back(), "resync");
  EXPECT_EQ(service().stats().subscriptions, 0U);
}

TEST_F(FeedServiceTest, PagesOfTheLogAreSharedByThoseWhoCatchUpFromDifferentVersions) {
  LogStore log;
  for (int i = 1; i <= 600; ++i) log.append(board, *Path::parse("a"), i);
  FeedService feed(log, fixture.roles, fixture.welcome());
  const std::vector<Version> versions{0, 3, 100, 255, 256, 300, 599, 600};
  for (const Version from : versions) {
    const PeerId peer = "from" + std::to_string(from);
    Copy& copy = copy_of(peer);
    copy.cells.set_version(from);
    copy.is_whole = from == 0;
    const Value body = codec::to_value(codec::Subscribe{board, from, {}});
    feed.handle({hello(peer, "analyst"), {peer, message_bytes(codec::message::subscribe, 3, body)}}, 0);
  }
  while (feed.catch_up(net.send())) {
  }
  for (const Version from : versions) EXPECT_EQ(copy_of("from" + std::to_string(from)).cells.version(), 600U) << from;
  // One read for each of the first pages of those who began below 600; 257–512 is one page for four of them who come to
  // it later; what ends at the head is read by each of six.
  EXPECT_EQ(log.reads, 7U + 6U);
}

// --- caches ---

TEST(FeedTailTest, HoldsTheNewestVersionsWithoutGap) {
  FeedTail tail;
  for (Version version = 5; version <= 9; ++version) tail.add(version, std::to_string(version));
  tail.add(7, "again");
  EXPECT_FALSE(tail.holds(4));
  EXPECT_TRUE(tail.holds(5));
  EXPECT_FALSE(tail.holds(10));
  EXPECT_EQ(tail.from(8, 100), (std::vector<std::string_view>{"8", "9"}));
  EXPECT_EQ(tail.from(5, 3), (std::vector<std::string_view>{"5", "6", "7"}));
  EXPECT_EQ(tail.from(5, 0), (std::vector<std::string_view>{"5"}));  // one at least
  tail.add(12, "12");
  EXPECT_FALSE(tail.holds(9));
  EXPECT_TRUE(tail.holds(12));
}

TEST(FeedTailTest, IsBoundedInEventsAndBytesAndForgetsWithTheHeartbeats) {
  FeedTail tail;
  for (Version version = 1; version <= limits::feed_tail_events_max + 5; ++version) tail.add(version, "x");
  EXPECT_FALSE(tail.holds(5));
  EXPECT_TRUE(tail.holds(6));
  const Version next = tail.last() + 1;
  tail.add(next, std::string(limits::feed_tail_bytes_max, 'y'));
  EXPECT_FALSE(tail.holds(next - 1));
  tail.add(next + 1, std::string(limits::feed_tail_bytes_max + 1, 'z'));  // too large for any tail
  EXPECT_TRUE(tail.empty());
  EXPECT_EQ(tail.bytes(), 0U);
  tail.add(next + 2, "a");
  tail.age();
  tail.add(next + 3, "b");
  EXPECT_TRUE(tail.holds(next + 2));
  tail.age();
  EXPECT_FALSE(tail.holds(next + 2));
  EXPECT_TRUE(tail.holds(next + 3));
}

TEST(FeedPagesTest, StayBelowTheirBoundAndLetTheOldestGo) {
  FeedPages pages(1'000);
  for (Version version = 1; version <= 50; ++version) pages.add("b", make_page("b", version, {std::string(90, 'x')}));
  EXPECT_LE(pages.bytes(), 1'000U);
  EXPECT_EQ(pages.find("b", 1), nullptr);
  ASSERT_NE(pages.find("b", 50), nullptr);
  EXPECT_EQ(pages.find("b", 50)->last, 50U);
  EXPECT_EQ(pages.find("c", 50), nullptr);
}

// --- everything at once ---

// Random interleavings of commits, lost batches, full and vanishing peers, joins, leaves and heartbeats. Peers::receive
// checks at each message that nothing comes twice, is left out or overtakes; at the end everyone has everything.
class Storm {
 public:
  explicit Storm(std::uint64_t seed) : random_(seed), service_(store_, roles_, codec::Welcome{}) {
    net_.keeps_events = false;
  }

  void run() {
    for (int step = 0; step < 60; ++step) {
      act(below(16));
      if (::testing::Test::HasFatalFailure()) return;
    }
    heal();
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::uint8_t>(random_.bytes(1)[0]) % bound; }
  std::string any_board() { return boards_[below(boards_.size())]; }
  PeerId any_peer() { return peers_.empty() ? new_peer() : peers_[below(peers_.size())]; }

  void act(std::size_t what) {
    if (what < 4) return commit();
    if (what < 7) return publish();
    if (what < 10) return static_cast<void>(service_.catch_up(net_.send()));
    if (what < 12) return join(any_peer(), any_board());
    if (what == 12) return join(new_peer(), any_board());
    if (what == 13) return static_cast<void>(net_.peers[any_peer()].room = below(3) == 0 ? SIZE_MAX : below(4));
    if (what == 14)
      return below(3) == 0 ? service_.heartbeat(steady_ += 1'000, net_.send()) : leave(any_peer(), any_board());
    if (below(2) == 0) return lose_connection(any_peer());
    if (!waiting_.empty() && below(4) == 0) waiting_.pop_front();  // the queue to the feed was full
  }

  void commit() {
    const std::string id = any_board();
    std::vector<std::shared_ptr<const Event>> batch;
    for (std::size_t i = 0, count = 1 + below(4); i < count; ++i) {
      const std::string text(below(8) == 0 ? 3'000 : 5, 'v');  // some larger than the page for a peer that was full
      batch.push_back(store_.append(id, paths_[below(paths_.size())], text + std::to_string(++serial_)));
    }
    waiting_.push_back(std::move(batch));
  }
  void publish() {
    if (waiting_.empty()) return;
    std::vector<std::shared_ptr<const Event>> events;
    for (std::size_t i = 0, count = 1 + below(3); i < count && !waiting_.empty(); ++i) {
      events.insert(events.end(), waiting_.front().begin(), waiting_.front().end());
      waiting_.pop_front();
    }
    service_.publish(events, net_.send());
  }
  PeerId new_peer() {
    peers_.push_back("peer" + std::to_string(++serial_));
    service_.handle({hello(peers_.back(), "analyst")}, steady_);
    return peers_.back();
  }
  // Follows a board (again) from what the peer's copy has; a fresh copy begins anywhere.
  void join(const PeerId& peer, const std::string& id) {
    Copy& copy = net_.peers[peer].copies[id];
    if (copy.cells.version() == 0 && copy.lives == 0 && !copy.is_subscribed && below(2) == 0) {
      copy.is_whole = false;
      copy.cells.set_version(below(static_cast<std::size_t>(store_.head_of(id).version) + 1));
    }
    copy.is_wanted = true;
    copy.is_subscribed = false;
    copy.is_live = false;
    copy.lives = 0;
    codec::Subscribe body{id, copy.cells.version(), {}};
    if (!copy.is_whole && below(2) == 0) body.paths = {"b", "d"};
    const auto answers =
        service_.handle({{peer, message_bytes(codec::message::subscribe, 1, codec::to_value(body))}}, steady_);
    ASSERT_TRUE(answers.empty()) << codec::to_json(decoded(answers[0].bytes).body);
  }
  void leave(const PeerId& peer, const std::string& id) {
    service_.handle({{peer, message_bytes(codec::message::unsubscribe, 1, Map{{"board", id}})}}, steady_);
    net_.peers[peer].copies[id].is_wanted = false;
    net_.peers[peer].copies[id].is_subscribed = false;
  }
  // The peer comes back under another name, with the copies it had.
  void lose_connection(const PeerId& peer) {
    net_.peers[peer].is_gone = true;
    std::erase(peers_, peer);
    if (below(2) == 0) return;
    const PeerId again = new_peer();
    net_.peers[again].copies = net_.peers[peer].copies;
    for (auto& [id, copy] : net_.peers[again].copies) copy.is_subscribed = false;
    for (const std::string& id : boards_) {
      if (net_.peers[again].copies.contains(id)) join(again, id);
    }
  }

  void heal() {
    for (auto& [peer, state] : net_.peers) {
      if (!state.is_gone) state.room = SIZE_MAX;
    }
    while (!waiting_.empty()) publish();
    for (int beat = 0; beat < 3; ++beat) {
      service_.heartbeat(steady_ += 1'000, net_.send());
      for (int turns = 0; service_.catch_up(net_.send()); ++turns) ASSERT_LT(turns, 1'000);
    }
    EXPECT_EQ(service_.stats().behind, 0U);
    EXPECT_EQ(service_.stats().failures, 0U);
    for (const PeerId& peer : peers_) {
      for (const auto& [id, copy] : net_.peers[peer].copies) {
        if (!copy.is_wanted) continue;
        ASSERT_TRUE(copy.is_subscribed) << peer << " on " << id;
        ASSERT_EQ(copy.cells.version(), store_.head_of(id).version) << peer << " on " << id;
        EXPECT_TRUE(copy.is_live);
      }
    }
  }

  SeededRandom random_;
  LogStore store_;
  RoleTable roles_;
  Peers net_;
  FeedService service_;
  const std::vector<std::string> boards_{"acme/one", "acme/two", "other/three"};
  const std::vector<Path> paths_{*Path::parse("a"), *Path::parse("b.c"), *Path::parse("d"), *Path::parse("e")};
  std::vector<PeerId> peers_;
  std::deque<std::vector<std::shared_ptr<const Event>>> waiting_;  // on their way to the feed
  std::int64_t steady_ = 0;
  std::uint64_t serial_ = 0;
};

TEST(FeedServiceStorm, EveryFollowerSeesEveryVersionExactlyOnceInOrder) {
  for (std::uint64_t seed = 1; seed <= 300 * effort; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Storm(seed).run();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tafel::broker::test
