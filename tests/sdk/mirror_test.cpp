#include "agents_sdk/cpp/mirror.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "tests/effort.hpp"

namespace tafel::sdk {
namespace {

using Next = Mirror::Next;
using Told = std::vector<BoardEvent>;

Path path(const std::string& text) { return *Path::parse(text); }

Cell register_cell(const Value& value, Version version) {
  Dot dot;
  dot.mark.version = version;
  dot.actor = "a";
  return RegisterCell{{{value, dot}}};
}

Change set(const std::string& at, const Value& value, Version version) {
  return {leaf_key(path(at)), register_cell(value, version)};
}
Change gone(const std::string& at) { return {leaf_key(path(at)), std::nullopt}; }

// The server's side, as simple as can be: the state after each version, kept whole.
struct History {
  explicit History(std::string the_epoch) : epoch(std::move(the_epoch)), states(1), events(1) {}

  void commit(std::vector<Change> changes) {
    blackboard::Board state = states.back();
    auto event = std::make_shared<codec::FeedEvent>();
    event->version = states.size();
    event->changes = changes;
    state.apply(event->version, changes);
    event->digest = state.digest();
    states.push_back(std::move(state));
    events.push_back(std::move(event));
  }
  Version head() const { return states.size() - 1; }
  // A page of `count` cells after key number `from` (in key order), at the head.
  Mirror::Page page(const Value& cursor, std::size_t count) const {
    const blackboard::Board& state = states.back();
    Mirror::Page made;
    made.version = head();
    made.epoch = epoch;
    made.digest = state.digest();
    const auto* after = cursor.get_if<std::string>();
    for (const auto& [key, cell] : state.cells()) {
      if (after != nullptr && key.path.text() <= *after) continue;
      if (made.cells.size() == count) {
        made.next = made.cells.back().key.path.text();
        break;
      }
      made.cells.push_back({key, cell});
    }
    return made;
  }

  std::string epoch;
  std::vector<blackboard::Board> states;
  std::vector<std::shared_ptr<codec::FeedEvent>> events;
};

bool looks_same(const blackboard::Board& left, const blackboard::Board& right) {
  return left.digest() == right.digest() && left.version() == right.version() &&
         left.cells().size() == right.cells().size();
}

// Also the digest is right.
bool same(const blackboard::Board& left, const blackboard::Board& right) {
  if (!looks_same(left, right)) return false;
  Sum128 sum;
  for (const auto& [key, cell] : left.cells()) sum += digest_of(key, cell);
  return sum == right.digest();
}

struct MirrorTest : testing::Test {
  MirrorTest() {
    for (int i = 0; i < 6; ++i) server.commit({set("f" + std::to_string(i), i, server.head() + 1)});
  }
  Next put(Version version) { return mirror.event(server.events[version], told); }
  // Reads everything and follows to the head.
  void join() {
    mirror.page(server.page({}, 100), told);
    mirror.live(server.head(), told);
    told.clear();
  }
  Mirror mirror;
  History server{"E"};
  Told told;
};

TEST_F(MirrorTest, IsExactAtOnceWhenNothingHappensWhileReading) {
  EXPECT_EQ(mirror.page(server.page({}, 100), told), Next::go_on);
  EXPECT_EQ(mirror.phase(), Mirror::Phase::following);
  EXPECT_TRUE(same(mirror.board(), server.states.back()));
  EXPECT_FALSE(mirror.is_live());
  mirror.live(6, told);
  EXPECT_TRUE(mirror.is_live());
}

TEST_F(MirrorTest, IsShownOnlyFromTheLastPagesVersionOn) {
  mirror.page(server.page(mirror.cursor(), 3), told);  // v0 = 6
  server.commit({set("f0", "new", 7), gone("f5")});
  server.commit({set("f9", 9, 8)});
  mirror.page(server.page(mirror.cursor(), 3), told);  // vN = 8
  ASSERT_EQ(mirror.phase(), Mirror::Phase::replaying);
  EXPECT_EQ(mirror.position(), 6U);
  EXPECT_FALSE(mirror.has_copy());
  EXPECT_EQ(put(7), Next::go_on);
  EXPECT_FALSE(mirror.has_copy());
  EXPECT_EQ(put(8), Next::go_on);
  EXPECT_TRUE(same(mirror.board(), server.states[8]));
  EXPECT_TRUE(told.empty());
}

TEST_F(MirrorTest, TellsEachVersionOnce) {
  join();
  server.commit({set("a", 1, 7)});
  EXPECT_EQ(put(7), Next::go_on);
  EXPECT_EQ(put(7), Next::go_on);
  EXPECT_EQ(put(3), Next::go_on);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].type, BoardEvent::Type::change);
  EXPECT_EQ(told[0].version, 7U);
}

TEST_F(MirrorTest, AGapAsksForTheMissingVersionsFromItsOwn) {
  join();
  server.commit({set("a", 1, 7)});
  server.commit({set("a", 2, 8)});
  EXPECT_EQ(put(8), Next::resubscribe);
  EXPECT_EQ(mirror.position(), 6U);
  EXPECT_EQ(put(7), Next::go_on);
  EXPECT_EQ(put(8), Next::go_on);
  EXPECT_EQ(mirror.resyncs(), 0U);
  EXPECT_TRUE(same(mirror.board(), server.states[8]));
}

TEST_F(MirrorTest, LiveAboveItsOwnVersionIsAGap) {
  join();
  server.commit({set("a", 1, 7)});
  EXPECT_EQ(mirror.live(7, told), Next::resubscribe);
}

TEST_F(MirrorTest, AnotherDigestIsReadAnewAndToldAsAResync) {
  join();
  server.commit({set("a", 1, 7)});
  auto broken = std::make_shared<codec::FeedEvent>(*server.events[7]);
  broken->changes = {set("a", 2, 7)};
  EXPECT_EQ(mirror.event(broken, told), Next::read_anew);
  EXPECT_EQ(mirror.version(), 6U);
  EXPECT_FALSE(mirror.is_live());
  EXPECT_TRUE(told.empty());
  mirror.page(server.page(mirror.cursor(), 100), told);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].type, BoardEvent::Type::resync);
  EXPECT_EQ(told[0].version, 7U);
  EXPECT_EQ(mirror.resyncs(), 1U);
  EXPECT_TRUE(same(mirror.board(), server.states[7]));
}

TEST_F(MirrorTest, ASnapshotThatDoesNotFitItsDigestIsNeverShown) {
  Mirror::Page page = server.page({}, 100);
  page.cells.pop_back();
  EXPECT_EQ(mirror.page(page, told), Next::read_anew);
  EXPECT_EQ(mirror.broken_in_a_row(), 1U);
  EXPECT_FALSE(mirror.has_copy());
}

TEST_F(MirrorTest, WhereAPartOnlyIsSeenNoDigestIsAskedFor) {
  Mirror::Page page = server.page({}, 100);
  page.digest.reset();
  page.cells.pop_back();
  EXPECT_EQ(mirror.page(page, told), Next::go_on);
  server.commit({});
  auto event = std::make_shared<codec::FeedEvent>(*server.events[7]);
  event->digest.reset();
  EXPECT_EQ(mirror.event(event, told), Next::go_on);
  EXPECT_EQ(mirror.version(), 7U);
}

TEST_F(MirrorTest, AnotherStoreIsReadAnewEvenWhenItsVersionsAreLower) {
  join();
  History restored("F");
  restored.commit({set("x", 1, 1)});
  EXPECT_EQ(mirror.epoch_is("E"), Next::go_on);
  EXPECT_EQ(mirror.epoch_is("F"), Next::read_anew);
  mirror.page(restored.page({}, 100), told);
  EXPECT_EQ(mirror.version(), 1U);
  EXPECT_EQ(mirror.epoch(), "F");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].type, BoardEvent::Type::resync);
}

TEST_F(MirrorTest, PagesOfTwoStoresAreNotMixed) {
  mirror.page(server.page({}, 3), told);
  Mirror::Page other = server.page(mirror.cursor(), 3);
  other.epoch = "F";
  EXPECT_EQ(mirror.page(other, told), Next::read_anew);
  EXPECT_TRUE(mirror.cursor().is_nil());
}

TEST_F(MirrorTest, ADeletedBoardIsEmptyFromThatVersionOnAndStaysSo) {
  join();
  server.commit({{board_key(), std::nullopt}});
  EXPECT_EQ(put(7), Next::end);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].type, BoardEvent::Type::change);
  EXPECT_EQ(told[1].type, BoardEvent::Type::deleted);
  EXPECT_EQ(told[1].version, 7U);
  EXPECT_EQ(mirror.deleted(), Version{7});
  EXPECT_EQ(mirror.version(), 7U);
  EXPECT_TRUE(same(mirror.board(), server.states.back()));
  EXPECT_TRUE(mirror.board().cells().empty());
  told.clear();
  EXPECT_EQ(put(6), Next::go_on);
  EXPECT_EQ(mirror.live(7, told), Next::go_on);
  EXPECT_EQ(mirror.history_gone(), Next::end);
  EXPECT_EQ(mirror.epoch_is("another"), Next::go_on);
  EXPECT_EQ(mirror.deleted(7, told), Next::end);
  mirror.lost(told);
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(mirror.phase(), Mirror::Phase::ended);
}

TEST_F(MirrorTest, ASnapshotOfBeforeTheDeletionStays) {
  join();
  const auto before = mirror.snapshot();
  server.commit({{board_key(), std::nullopt}});
  put(7);
  EXPECT_EQ(before->cells().size(), 6U);
  EXPECT_TRUE(mirror.snapshot()->cells().empty());
}

TEST_F(MirrorTest, ADeletionWhileItIsReadOrTheServersWordEndItToo) {
  mirror.page(server.page({}, 3), told);
  server.commit({set("f9", 1, 7)});
  mirror.page(server.page(mirror.cursor(), 9), told);
  ASSERT_EQ(mirror.phase(), Mirror::Phase::replaying);
  server.commit({{board_key(), std::nullopt}});
  EXPECT_EQ(mirror.event(server.events[8], told), Next::resubscribe);  // 7 is missing
  EXPECT_EQ(put(7), Next::go_on);
  EXPECT_EQ(put(8), Next::end);
  EXPECT_EQ(mirror.deleted(), Version{8});
  EXPECT_EQ(told.back().type, BoardEvent::Type::deleted);

  Mirror other;
  Told words;
  EXPECT_EQ(other.deleted(7, words), Next::end);
  EXPECT_EQ(other.version(), 7U);
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(words[0].version, 7U);
}

TEST_F(MirrorTest, LostIsToldOnce) {
  join();
  mirror.lost(told);
  mirror.lost(told);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].type, BoardEvent::Type::lost);
}

TEST_F(MirrorTest, ASnapshotStaysAsItWas) {
  join();
  const auto before = mirror.snapshot();
  server.commit({set("f0", "changed", 7)});
  put(7);
  EXPECT_TRUE(same(*before, server.states[6]));
  EXPECT_TRUE(same(*mirror.snapshot(), server.states[7]));
}

TEST_F(MirrorTest, IsNotCopiedWhileNobodyHoldsASnapshot) {
  join();
  const auto* where = mirror.snapshot().get();
  server.commit({set("f0", "changed", 7)});
  put(7);
  EXPECT_EQ(mirror.snapshot().get(), where);
}

// A feed that repeats, drops, garbles and is cut, a log that is trimmed, a store that is restored: whatever is shown is
// the server's state at that version, and watchers are told every version once, or of a resync.
class Chaos {
 public:
  explicit Chaos(std::uint32_t seed) : random_(seed) {}

  std::uint64_t resyncs() const { return resyncs_; }
  std::uint64_t gaps() const { return gaps_; }

  void run() {
    for (int step = 0; step < 80; ++step) {
      turn();
      check();
      if (testing::Test::HasFailure()) return;
    }
    kind_ = true;
    for (int step = 0; step < 400 && !(mirror_.is_live() && mirror_.version() == server_.head()); ++step) turn();
    check();
    EXPECT_TRUE(mirror_.is_live());
    EXPECT_EQ(mirror_.version(), server_.head());
    EXPECT_TRUE(same(mirror_.board(), server_.states.back()));
  }

 private:
  bool chance(unsigned of) { return random_() % of == 0; }
  bool mishap(unsigned of) { return !kind_ && chance(of); }

  void commit() {
    std::vector<Change> changes;
    for (unsigned i = 0; i < random_() % 3 + 1; ++i) {
      const std::string at = "f" + std::to_string(random_() % 12);
      const auto spoken_of = [&](const Change& change) { return change.key.path.text() == at; };
      if (std::any_of(changes.begin(), changes.end(), spoken_of)) continue;
      chance(3) ? changes.push_back(gone(at))
                : changes.push_back(set(at, static_cast<int>(random_() % 100), server_.head() + 1));
    }
    server_.commit(std::move(changes));
  }

  void turn() {
    if (!kind_ || server_.head() < 3) {
      while (chance(2)) commit();
    }
    if (mishap(60)) {
      server_ = History("E" + std::to_string(++epochs_));
      floor_ = 0;
      feed_.clear();
      subscribed_ = false;
    }
    if (mishap(40)) floor_ = server_.head();
    if (mishap(15)) {  // the connection is cut
      feed_.clear();
      subscribed_ = false;
      mirror_.lost(told_);
    }
    if (mirror_.phase() == Mirror::Phase::reading)
      return act(mirror_.page(server_.page(mirror_.cursor(), 1 + random_() % 4), told_));
    if (!subscribed_) return subscribe();
    while (sent_ < server_.head()) feed_.push_back(++sent_);
    deliver();
  }

  void subscribe() {
    if (const auto next = mirror_.epoch_is(server_.epoch); next != Next::go_on) return act(next);
    if (mirror_.position() < floor_ || mirror_.position() > server_.head()) return act(mirror_.history_gone());
    subscribed_ = true;
    sent_ = mirror_.position();
    feed_.clear();
  }

  void deliver() {
    if (feed_.empty()) return act(mirror_.live(server_.head(), told_));
    const Version version = feed_.front();
    feed_.pop_front();
    if (mishap(20)) return;  // dropped
    auto event = std::make_shared<codec::FeedEvent>(*server_.events[version]);
    if (mishap(50)) event->changes.push_back(set("garbled", 1, version));
    act(mirror_.event(event, told_));
    if (subscribed_ && mishap(10)) act(mirror_.event(server_.events[1 + random_() % version], told_));  // repeated
  }

  void act(Next next) {
    if (next == Next::go_on) return;
    if (next == Next::resubscribe) ++gaps_;
    subscribed_ = false;
    feed_.clear();
  }

  void check() {
    for (const BoardEvent& event : told_) {
      if (event.type == BoardEvent::Type::change) {
        EXPECT_EQ(event.version, last_told_ + 1);
        EXPECT_EQ(event.event->version, event.version);
      }
      last_told_ = event.version;
      if (event.type == BoardEvent::Type::resync) ++resyncs_;
    }
    told_.clear();
    if (mirror_.phase() != Mirror::Phase::following) return;
    EXPECT_EQ(mirror_.resyncs(), resyncs_);
    if (last_told_ == 0) last_told_ = mirror_.version();
    EXPECT_EQ(mirror_.version(), last_told_);
    if (mirror_.epoch() != server_.epoch) return;  // it will learn
    ASSERT_LE(mirror_.version(), server_.head());
    EXPECT_TRUE(looks_same(mirror_.board(), server_.states[mirror_.version()]));
  }

  std::mt19937 random_;
  bool kind_ = false;
  int epochs_ = 1;
  History server_{"E1"};
  Version floor_ = 0;
  Mirror mirror_;
  bool subscribed_ = false;
  Version sent_ = 0;
  std::deque<Version> feed_;
  Told told_;
  Version last_told_ = 0;
  std::uint64_t resyncs_ = 0;
  std::uint64_t gaps_ = 0;
};

TEST(MirrorLaw, WhateverHappensWhatIsShownIsTheServersStateAndNothingIsToldTwice) {
  std::uint64_t resyncs = 0;
  std::uint64_t gaps = 0;
  for (std::uint32_t seed = 1; seed <= 300 * effort; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Chaos chaos(seed);
    chaos.run();
    if (::testing::Test::HasFailure()) return;
    resyncs += chaos.resyncs();
    gaps += chaos.gaps();
  }
  EXPECT_GT(resyncs, 100U);  // or nothing was tested
  EXPECT_GT(gaps, 100U);
}

}  // namespace
}  // namespace tafel::sdk
