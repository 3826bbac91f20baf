#include "demo/naive.hpp"

#include <gtest/gtest.h>

#include "common/codec/json.hpp"
#include "tests/demo/schedule_fixture.hpp"

namespace tafel::demo {
namespace {

Value json(std::string_view text) { return *codec::parse_json(text); }

Value merged(NaiveWay way, const ScheduleBuilder& builder) { return merge_naively(way, builder.schedule()).state; }

TEST(Naive, OneWriterAfterTheOtherLosesNothing) {
  const auto builder = ScheduleBuilder()
                           .arrive(on(0).set("trip", Map{{"a", 1}, {"b", 2}}).add("names", {"x"}).incr("n"))
                           .arrive(on(1).set("trip.a", 3).add("names", {"y"}).incr("n").append("log", "hello"));
  const Value expected = json(R"({"trip":{"a":3,"b":2},"names":["x","y"],"n":2,"log":["hello"]})");
  for (const NaiveWay way : naive_ways) EXPECT_EQ(merged(way, builder), expected) << name_of(way);
}

TEST(Naive, TheWholeStateOfAStaleWriterTakesEverythingBack) {
  const auto builder = ScheduleBuilder().arrive(on(0).set("a", 1)).arrive(on(1).set("b", 2)).arrive(on(1).set("c", 3));
  EXPECT_EQ(merged(NaiveWay::whole_state, builder), json(R"({"a":1,"c":3})"));
  EXPECT_EQ(merged(NaiveWay::shallow_merge, builder), json(R"({"a":1,"b":2,"c":3})"));
  EXPECT_EQ(merged(NaiveWay::final_fields, builder), json(R"({"a":1,"b":2,"c":3})"));
}

TEST(Naive, AShallowMergeTakesBackWhatIsBelowTheSameKey) {
  const auto builder = ScheduleBuilder().arrive(on(0).set("trip.a", 1)).arrive(on(0).set("trip.b", 2));
  EXPECT_EQ(merged(NaiveWay::shallow_merge, builder), json(R"({"trip":{"b":2}})"));
  EXPECT_EQ(merged(NaiveWay::final_fields, builder), json(R"({"trip":{"a":1,"b":2}})"));
}

TEST(Naive, BlanksFlushUnlessTheyAreIgnored) {
  const auto builder = ScheduleBuilder()
                           .arrive(on(0).set("trip", Map{{"a", 1}, {"b", 2}}))
                           .arrive(on(1).set("trip", Map{{"a", ""}, {"b", Value()}, {"c", "  "}}));
  EXPECT_EQ(merged(NaiveWay::whole_state, builder), json(R"({"trip":{"a":"","b":null,"c":"  "}})"));
  EXPECT_EQ(merged(NaiveWay::shallow_merge, builder), json(R"({"trip":{"a":"","b":null,"c":"  "}})"));
  EXPECT_EQ(merged(NaiveWay::final_fields, builder), json(R"({"trip":{"a":1,"b":2}})"));
}

TEST(Naive, TwoFinalListsFromOneBaseKeepTheLastOne) {
  const auto builder = ScheduleBuilder()
                           .arrive(on(0).add("countries", {"美国", "新加坡"}))
                           .arrive(on(1).set("countries", List{"美国", "英国"}))
                           .arrive(on(1).add("countries", {"日本"}).remove("countries", {"新加坡"}));
  for (const NaiveWay way : naive_ways)
    EXPECT_EQ(merged(way, builder), json(R"({"countries":["美国","日本"]})")) << name_of(way);
}

TEST(Naive, ConcurrentIncrementsCountOnce) {
  const auto builder = ScheduleBuilder().arrive(on(0).incr("n")).arrive(on(1).incr("n")).arrive(on(1).incr("n"));
  for (const NaiveWay way : naive_ways) EXPECT_EQ(merged(way, builder), json(R"({"n":2})")) << name_of(way);
}

TEST(Naive, AResetThenAnAdditionIsOneFinalList) {
  const auto builder =
      ScheduleBuilder().arrive(on(0).add("s", {"x"})).arrive(on(1).reset("s", {"a", "b"}).add("s", {"c"}));
  for (const NaiveWay way : naive_ways) EXPECT_EQ(merged(way, builder), json(R"({"s":["a","b","c"]})")) << name_of(way);
}

std::size_t bytes_of(std::string_view text) { return canonical(json(text)).size(); }

TEST(Naive, BytesAreThoseOfTheMessage) {
  const auto builder =
      ScheduleBuilder().arrive(on(0).set("trip", Map{{"a", 1}}).set("x", 1)).arrive(on(1).set("trip.b", 2));
  const auto bytes = [&](NaiveWay way) { return merge_naively(way, builder.schedule()).bytes; };
  EXPECT_EQ(bytes(NaiveWay::whole_state),
            bytes_of(R"({"trip":{"a":1},"x":1})") + bytes_of(R"({"trip":{"a":1,"b":2},"x":1})"));
  EXPECT_EQ(bytes(NaiveWay::shallow_merge),
            bytes_of(R"({"trip":{"a":1},"x":1})") + bytes_of(R"({"trip":{"a":1,"b":2}})"));
  EXPECT_EQ(bytes(NaiveWay::final_fields), bytes_of(R"({"trip.a":1,"x":1})") + bytes_of(R"({"trip.b":2})"));
}

TEST(Naive, EveryWayLosesWhatTheOracleMisses) {
  const auto verified = Confidence::verified;
  const auto guess = Confidence::guess;
  const auto builder =
      ScheduleBuilder()
          .arrive(on(0).set("trip.toefl", 105).add("s", {"a"}), {said("trip.toefl", 105, verified), added("s", "a")})
          .arrive(on(1).add("s", {"b"}), {added("s", "b")})
          .arrive(on(1).set("trip.toefl", "随便").add("s", {"c"}),
                  {said("trip.toefl", "随便", guess), added("s", "c")});
  for (const NaiveWay way : naive_ways) {
    const Losses losses = find_losses(builder.schedule(), ending_of(merged(way, builder)));
    EXPECT_EQ(losses, (Losses{.members = 1, .facts = 1})) << name_of(way);
  }
}

}  // namespace
}  // namespace tafel::demo
