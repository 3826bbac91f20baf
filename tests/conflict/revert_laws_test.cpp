// The laws of revert, on random histories of every kind, with conflicts, suggestions and late writers.
#include <random>

#include "tests/conflict/board_fixture.hpp"
#include "tests/effort.hpp"

namespace tafel {
namespace {

using testing::BoardFixture;
using testing::says;

// Everything that a reader sees but versions and actors: values, confidences, conflicts, order, suggestions.
std::string shape(const blackboard::Board& board) {
  const blackboard::Reader reader;
  std::string text;
  for (const blackboard::FieldView& view : blackboard::fields(board, std::nullopt, reader)) {
    text += view.path.text() + " " + std::string(name_of(view.kind)) + " " + codec::to_canonical_json(view.value) +
            " " + std::string(name_of(view.confidence));
    for (const Sibling& other : view.conflicts)
      text += " | " + codec::to_canonical_json(other.value) + std::string(name_of(other.dot.confidence));
    for (const ElementCell& element : view.elements) {
      text += " " + codec::to_canonical_json(element.value) + std::string(name_of(element.dots.front().confidence));
    }
    for (const EntryCell& entry : view.entries)
      text += " " + mark_text(entry.dot.mark) + std::string(name_of(entry.dot.confidence));
    text += "\n";
  }
  return text + codec::to_canonical_json(blackboard::suggestions_map(board, std::nullopt, reader, true));
}

class RevertLaws : public BoardFixture {
 protected:
  std::size_t die(std::size_t sides) { return dice_() % sides; }
  template <class T>
  const T& pick(const std::vector<T>& items) {
    return items[die(items.size())];
  }

  std::string op() {
    static const std::vector<std::string> values{"1", "1.0", "\"甲\"", "true", "[1]", "2"};
    static const std::vector<std::string> items{"\"x\"", "\"y\"", "1", "1.0", "\"英\""};
    static const std::vector<std::string> confidences{"guess", "stated", "stated", "verified"};
    const auto list = [&] { return "[" + pick(items) + "," + pick(items) + "]"; };
    static const std::vector<std::string> registers{"a", "r.x", "r.y"};
    static const std::vector<std::string> all{"a", "r.x", "r.y", "r", "s", "r.s", "n", "hi", "lo", "log"};
    std::string body;
    switch (die(12)) {
      case 0:
      case 1:
      case 2: body = R"("op":"set","path":")" + pick(registers) + R"(","value":)" + pick(values); break;
      case 3: body = R"("op":"set","path":"s","value":)" + list(); break;
      case 4:
      case 5:
        body = R"("op":"patch","path":")" + pick<std::string>({"s", "r.s"}) + R"(","add":)" + list() + R"(,"remove":)" +
               list();
        break;
      case 6: body = R"("op":"incr","path":"n","by":)" + std::to_string(static_cast<int>(die(9)) - 4); break;
      case 7: body = R"("op":"max","path":"hi","value":)" + std::to_string(die(9)); break;
      case 8: body = R"("op":"min","path":"lo","value":)" + std::to_string(die(9)); break;
      case 9: body = R"("op":"append","path":"log","value":)" + pick(values); break;
      case 10: body = R"("op":"unset","path":")" + pick(all) + "\""; break;
      default: {
        const auto held = blackboard::suggestions(load(), std::nullopt, {});
        if (held.empty()) return op();
        const auto& one = held[die(held.size())];
        body = R"("op":")" + pick<std::string>({"accept", "dismiss"}) + R"(","path":")" + one.path.text() +
               R"(","suggestion":")" + mark_text(one.suggestion.dot.mark) + "\"";
      }
    }
    return "{" + body + R"(,"confidence":")" + pick(confidences) + "\"}";
  }

  std::string delta(Version oldest) {
    const Version head = version();
    const Version base = die(2) == 0 ? head : oldest + die(head - oldest + 1);
    std::string ops = op();
    for (std::size_t more = die(3); more > 0; --more) ops += "," + op();
    return R"({"atomic":false,"base":)" + std::to_string(base) + R"(,"ops":[)" + ops + "]}";
  }
  void write(std::size_t deltas, const std::vector<std::string>& actors, Version oldest = 0) {
    for (std::size_t i = 0; i < deltas; ++i) apply(delta(oldest), pick(actors));
  }

  // One delta for the whole board: an op for each first segment that was ever written.
  std::string revert_all(const std::string& members, std::optional<Version> base = std::nullopt) const {
    std::string ops;
    for (const char* top : {"a", "r", "s", "n", "hi", "lo", "log"}) {
      ops += std::string(ops.empty() ? "" : ",") + R"({"op":"revert","path":")" + top + "\"," + members + "}";
    }
    return (base ? "{\"base\":" + std::to_string(*base) + "," : "{") + "\"ops\":[" + ops + "]}";
  }
  Receipt revert_to(Version to) { return apply(revert_all("\"to\":" + std::to_string(to)), "lead"); }

  blackboard::Board at(Version version) const {
    auto board = (*store_->snapshot())->load(board_, std::nullopt, version, SIZE_MAX);
    EXPECT_TRUE(board);
    return board ? std::move(*board) : blackboard::Board();
  }

  // A board of its own for each round.
  void begin(int round) {
    dice_.seed(static_cast<std::uint32_t>(round));
    board_ = "laws/" + std::to_string(round);
  }

  std::mt19937 dice_;
};

constexpr int rounds = 60 * effort;

// A revert to V shows what was there after V, whatever it was.
TEST_F(RevertLaws, BackIsWhatWas) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    begin(round);
    write(2 + die(20), {"a", "b", "c"});
    const Version to = die(version() + 1);
    const Receipt receipt = revert_to(to);
    ASSERT_FALSE(receipt.error) << receipt.error->message;
    ASSERT_EQ(shape(load()), shape(at(to))) << "to version " << to;
  }
}

// A revert of a revert is the original.
TEST_F(RevertLaws, TwiceIsTheOriginal) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    begin(1'000 + round);
    write(2 + die(20), {"a", "b", "c"});
    const Version head = version();
    const std::string original = shape(load());
    revert_to(die(head + 1));
    ASSERT_FALSE(revert_to(head).error);
    ASSERT_EQ(shape(load()), original);
  }
}

// Where an actor wrote last everywhere, a revert of that actor leaves the state without its writes.
TEST_F(RevertLaws, WithoutOneActorIsTheStateBeforeIt) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    begin(2'000 + round);
    write(2 + die(10), {"a", "b"});
    const Version before = version();
    write(1 + die(10), {"bot"}, die(before + 1));
    const Version since = die(before + 1);
    const Receipt receipt = apply(revert_all(R"("actor":"bot","since":)" + std::to_string(since)), "lead");
    ASSERT_FALSE(receipt.error) << receipt.error->message;
    ASSERT_EQ(shape(load()), shape(at(before))) << "since version " << since;
  }
}

// What was written after the base is there afterwards: as a value, an element, an increment, or as a suggestion.
TEST_F(RevertLaws, NothingNewerIsLost) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    begin(3'000 + round);
    write(4 + die(15), {"a", "b", "c"});
    const Version base = die(version() + 1);
    const auto to = die(base + 1);
    const blackboard::Board before = load();
    const auto receipt = apply(revert_all("\"to\":" + std::to_string(to), base), "lead");
    if (receipt.error) {  // something newer of another kind stands in the way
      ASSERT_TRUE(receipt.error->code == ErrorCode::structure_conflict ||
                  receipt.error->code == ErrorCode::kind_mismatch);
      continue;
    }
    const blackboard::Board after = load();
    for (const auto& [key, cell] : before.cells()) {
      const Cell* now = after.find(key);
      if (const auto* reg = std::get_if<RegisterCell>(&cell)) {
        const auto* left = now != nullptr ? std::get_if<RegisterCell>(now) : nullptr;
        const auto held = blackboard::suggestions(after, key.path, {});
        for (const Sibling& sibling : reg->siblings) {
          const auto same = [&](const Value& value) { return value == sibling.value; };
          ASSERT_TRUE(sibling.dot.version() <= base ||
                      (left != nullptr && std::any_of(left->siblings.begin(), left->siblings.end(),
                                                      [&](const Sibling& s) { return same(s.value); })) ||
                      std::any_of(held.begin(), held.end(), [&](const auto& s) { return same(s.suggestion.value); }))
              << key.path.text();
        }
      } else if (const auto* element = std::get_if<ElementCell>(&cell)) {
        ASSERT_TRUE(element->dots.back().version() <= base || now != nullptr) << key.path.text();
      } else if (const auto* entry = std::get_if<EntryCell>(&cell)) {
        ASSERT_TRUE(entry->dot.version() <= base || now != nullptr) << key.path.text();
      }
    }
    const auto total = [](const blackboard::Board& board) {
      const Cell* cell = board.find(leaf_key(*Path::parse("n")));
      return cell != nullptr ? std::get<CounterCell>(*cell).total : 0;
    };
    EXPECT_EQ(total(after) - total(before), total(at(to)) - total(at(base)));
    EXPECT_TRUE(store_->verify(board_)->defects.empty());
  }
}

// A revert and a patch that has not seen it leave the same elements in either order, as patches do.
TEST_F(RevertLaws, ElementsDoNotDependOnTheOrderOfArrival) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    std::string shapes[2];
    for (int order = 0; order < 2; ++order) {
      begin(4'000 + round);
      board_ += order == 0 ? "/first" : "/second";
      const auto patch = [&] {
        static const std::vector<std::string> items{"\"x\"", "\"y\"", "\"z\""};
        return R"("ops":[{"op":"patch","path":"s","add":[)" + pick(items) + R"(],"remove":[)" + pick(items) +
               R"(],"confidence":")" + pick<std::string>({"guess", "stated", "verified"}) + "\"}]}";
      };
      for (std::size_t i = 2 + die(8); i > 0; --i) apply("{" + patch());
      const Version base = version();
      const std::string other = "{\"base\":" + std::to_string(base) + "," + patch();
      const std::string back = "{\"base\":" + std::to_string(base) + R"(,"confidence":")" +
                               pick<std::string>({"stated", "verified"}) +
                               R"(","ops":[{"op":"revert","path":"s","to":)" + std::to_string(die(base + 1)) + "}]}";
      apply(order == 0 ? other : back);
      apply(order == 0 ? back : other);
      const blackboard::Board board = load();
      for (const auto& [key, cell] : board.cells()) {
        if (const auto* element = std::get_if<ElementCell>(&cell))
          shapes[order] +=
              codec::to_json(element->value) + std::string(name_of(element->dots.front().confidence)) + " ";
      }
    }
    ASSERT_EQ(shapes[0], shapes[1]);
  }
}

}  // namespace
}  // namespace tafel
