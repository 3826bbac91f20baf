// Every worked case of tests/vectors: receipts (the members that a case lists), version, state, fields and suggestions.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "common/codec/json.hpp"
#include "tests/laws/replay_case.hpp"

namespace tafel {
namespace {

std::vector<Value> load_cases(const std::string& file) {
  std::ifstream in(std::string(TAFEL_VECTORS) + "/" + file);
  std::stringstream text;
  text << in.rdbuf();
  auto parsed = codec::parse_json(text.str());
  if (!parsed || parsed->get_if<List>() == nullptr) return {};
  return *parsed->get_if<List>();
}

// `found` has everything that `wanted` names; null wants null or nothing; lists match item by item.
::testing::AssertionResult contains(const Value& found, const Value& wanted, const std::string& at) {
  if (const auto* map = wanted.get_if<Map>()) {
    for (const auto& [key, member] : *map) {
      const Value* there = found.find(key);
      if (there == nullptr && member.is_nil()) continue;
      if (there == nullptr)
        return ::testing::AssertionFailure() << at << "." << key << " is missing in " << codec::to_json(found);
      if (auto result = contains(*there, member, at + "." + key); !result) return result;
    }
    return ::testing::AssertionSuccess();
  }
  const auto* wanted_list = wanted.get_if<List>();
  const auto* found_list = found.get_if<List>();
  if (wanted_list != nullptr && found_list != nullptr && wanted_list->size() == found_list->size()) {
    for (std::size_t i = 0; i < wanted_list->size(); ++i) {
      if (auto result = contains((*found_list)[i], (*wanted_list)[i], at + "[" + std::to_string(i) + "]"); !result)
        return result;
    }
    return ::testing::AssertionSuccess();
  }
  if (found == wanted) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << at << ": found " << codec::to_json(found) << ", wanted "
                                       << codec::to_json(wanted);
}

std::string exact(const Value* value) { return value != nullptr ? codec::to_canonical_json(*value) : "nothing"; }

class Vectors : public ::testing::TestWithParam<std::string> {};

TEST_P(Vectors, GiveExactlyWhatTheyList) {
  const auto cases = load_cases(GetParam());
  ASSERT_FALSE(cases.empty());
  for (const Value& each : cases) {
    SCOPED_TRACE(codec::to_json(*each.find("name")));
    const Value result = replay_case(each);
    EXPECT_TRUE(contains(*result.find("receipts"), *each.find("receipts"), "receipts"));
    for (const char* member : {"version", "state", "fields"})
      EXPECT_EQ(exact(result.find(member)), exact(each.find(member))) << member;
    const Value* wanted = each.find("suggestions");
    EXPECT_TRUE(contains(*result.find("suggestions"), wanted != nullptr ? *wanted : Value(Map{}), "suggestions"));
    const std::size_t count = wanted != nullptr ? wanted->get_if<Map>()->size() : 0;
    EXPECT_EQ(result.find("suggestions")->get_if<Map>()->size(), count);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Vectors, ::testing::Values("merge.json", "own.json"),
                         [](const auto& file) { return file.param.substr(0, file.param.find('.')); });

TEST(VectorFiles, HaveAllTheirCases) {
  EXPECT_EQ(load_cases("merge.json").size(), 84U);
  EXPECT_GE(load_cases("own.json").size(), 60U);
}

}  // namespace
}  // namespace tafel
