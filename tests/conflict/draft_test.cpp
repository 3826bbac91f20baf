// The draft: what one delta sees of itself, and what is taken back.
#include "conflict/draft.hpp"

#include "tests/conflict/board_fixture.hpp"

namespace tafel {
namespace {

using conflict::Draft;

class DraftTest : public testing::BoardFixture {
 protected:
  void SetUp() override {
    apply(
        R"({"ops":[{"op":"set","path":"a.b","value":1},{"op":"patch","path":"a.s","add":["x","y"]},{"op":"append","path":"l","value":"m"}]})");
    batch_ = std::move(*store_->begin());
  }
  Draft draft(Version base = 1) { return Draft(batch_->view(board_), base, now_); }
  static Path path(std::string_view text) { return *Path::parse(text); }

  std::unique_ptr<store::Batch> batch_;
};

TEST_F(DraftTest, KnowsTheKindOfEachLeaf) {
  const Draft d = draft();
  EXPECT_EQ(d.kind(path("a.b")), Kind::register_);
  EXPECT_EQ(d.kind(path("a.s")), Kind::set);
  EXPECT_EQ(d.kind(path("l")), Kind::log);
  EXPECT_EQ(d.kind(path("a")), std::nullopt);
}

TEST_F(DraftTest, ASetIsAbsentWhenItsLastElementWent) {
  Draft d = draft();
  d.put(element_key(path("a.s"), Value("x")), std::nullopt);
  EXPECT_EQ(d.kind(path("a.s")), Kind::set);
  d.put(element_key(path("a.s"), Value("y")), std::nullopt);
  EXPECT_EQ(d.kind(path("a.s")), std::nullopt);
  EXPECT_EQ(d.leaves_below(path("a"), 10).size(), 1U);
}

TEST_F(DraftTest, ALogCanTakeThePlaceOfARegisterThatWent) {
  Draft d = draft();
  d.put(leaf_key(path("a.b")), std::nullopt);
  d.put(entry_key(path("a.b"), {2, 0}), EntryCell{Value("m"), Dot{}});
  EXPECT_EQ(d.kind(path("a.b")), Kind::log);
}

TEST_F(DraftTest, GoesBackToAPoint) {
  Draft d = draft();
  const std::size_t point = d.point();
  d.put(leaf_key(path("a.b")), std::nullopt);
  d.put(leaf_key(path("c")), CounterCell{});
  d.back_to(point);
  EXPECT_EQ(d.kind(path("a.b")), Kind::register_);
  EXPECT_EQ(d.kind(path("c")), std::nullopt);
  EXPECT_TRUE(d.changes().empty());
}

TEST_F(DraftTest, WhatWasMadeAndTakenAwayIsNoChange) {
  Draft d = draft();
  d.put(leaf_key(path("c")), CounterCell{});
  d.put(leaf_key(path("c")), std::nullopt);
  EXPECT_TRUE(d.changes().empty());
}

TEST_F(DraftTest, SeesTheBaseAndNotThePresent) {
  batch_.reset();
  apply(R"({"ops":[{"op":"patch","path":"a.s","remove":["x"],"add":["z"]},{"op":"unset","path":"a.b"}]})");
  batch_ = std::move(*store_->begin());
  const Draft d = draft(1);
  EXPECT_TRUE(d.seen(leaf_key(path("a.b"))));
  EXPECT_FALSE(d.cell(leaf_key(path("a.b"))));
  EXPECT_EQ(d.seen_parts(path("a.s"), Part::element).size(), 2U);
  EXPECT_TRUE(d.seen(element_key(path("a.s"), Value("x"))));
  EXPECT_FALSE(d.seen(element_key(path("a.s"), Value("z"))));
  EXPECT_FALSE(draft(0).seen(leaf_key(path("a.b"))));
}

}  // namespace
}  // namespace tafel
