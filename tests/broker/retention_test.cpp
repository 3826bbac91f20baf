// Retention through the commit pipeline: what the limits of a board take away, and what stays (SEMANTICS 11; FIELD
// RO6).
#include <gtest/gtest.h>

#include "blackboard/read.hpp"
#include "broker/pipeline.hpp"
#include "common/base/limits.hpp"
#include "common/codec/json.hpp"
#include "tests/broker/rig.hpp"
#include "tests/effort.hpp"

namespace tafel {
namespace {

using testing::Rig;
using testing::value_in;

const std::string board = testing::board;

struct RetentionVerb : ::testing::Test {
  Receipt on(const std::string& text, const std::string& to = board) {
    auto done = rig.commit_all({{"analyst", testing::delta(text, to)}});
    EXPECT_TRUE(done.has_value());
    return done->receipts.front();
  }
  std::string code(const std::string& text, const std::string& to = board) {
    const Receipt receipt = on(text, to);
    return receipt.error ? std::string(name_of(receipt.error->code)) : "none";
  }
  Receipt retain(const std::string& value, const std::string& to = board) {
    return on(R"({"ops": [{"op": "retain", "path": "$retention", "value": )" + value + "}]}", to);
  }
  // Until nothing is left to trim, from a moment on at which the boards are looked at again.
  void trim() {
    rig.now += limits::retention_interval_ms + 1;
    for (auto more = rig.pipeline().trim(rig.now); more.value(); more = rig.pipeline().trim(rig.now)) ASSERT_TRUE(more);
  }
  Head head(const std::string& of = board) { return (*(*rig.store().snapshot())->head(of)).value(); }
  std::string fault_at(Version version) {
    const auto loaded = (*rig.store().snapshot())->load(board, std::nullopt, version, 1 << 20U);
    return loaded ? "none" : fault_name(loaded.error().fault);
  }
  Value at(std::string_view path, Version version) {
    const auto loaded = (*rig.store().snapshot())->load(board, *Path::parse(path), version, 1 << 20U);
    EXPECT_TRUE(loaded) << loaded.error().message;
    const auto fields = blackboard::fields(*loaded, *Path::parse(path), {rig.now, nullptr});
    return fields.empty() ? Value() : fields.front().value;
  }
  void expect_sound(const std::string& of = board) {
    EXPECT_EQ(rig.store().verify(of)->defects, std::vector<std::string>{});
  }

  Rig rig;
};

TEST_F(RetentionVerb, IsSetShownAndTakenBack) {
  EXPECT_EQ(retain(R"({"versions": 10, "age_ms": 60000, "bytes": 1000000})").ops[0].outcome, Outcome::applied);
  EXPECT_EQ(retain(R"({"versions": 10, "age_ms": 60000, "bytes": 1000000})").ops[0].outcome, Outcome::unchanged);
  EXPECT_EQ(code(R"({"ops": [{"op": "retain", "path": "$retention", "value": {"versions": 0}}]})"), "bad_value");
  EXPECT_EQ(code(R"({"ops": [{"op": "retain", "path": "$retention", "value": {"days": 3}}]})"), "bad_value");
  EXPECT_EQ(code(R"({"ops": [{"op": "retain", "path": "$retention", "value": 3}]})"), "bad_value");
  EXPECT_EQ(code(R"({"ops": [{"op": "retain", "path": "x", "value": {}}]})"), "bad_path");
  EXPECT_EQ(code(R"({"set": {"$retention": {"versions": 1}}})"), "forbidden");
  EXPECT_EQ(retain("null").ops[0].outcome, Outcome::applied);
  EXPECT_EQ(retain("null").ops[0].reason, Reason::absent);
}

TEST_F(RetentionVerb, AHundredThousandDeltasKeepAThousandTheHeadAndTheTags_RO6) {
  const int deltas = is_quick || is_sanitized ? 6'000 : 100'000;
  on(R"({"set": {"目标": "签证", "step": 0}})");
  on(R"({"ops": [{"op": "tag", "path": "$tags.开始", "value": 1}]})");
  retain(R"({"versions": 1000})");
  std::uint64_t largest = 0;
  for (int i = 1; i <= deltas;) {
    std::vector<broker::Submission> batch;
    for (int j = 0; j < 200; ++j, ++i) {
      const std::string number = std::to_string(i);
      batch.push_back({"analyst", testing::delta(R"({"set": {"step": )" + number + R"(, "scratch.f)" +
                                                     std::to_string(i % 50) + R"(": ")" + number + R"("}})",
                                                 board)});
    }
    ASSERT_TRUE(rig.commit_all(batch));
    trim();
    largest = std::max(largest, (*(*rig.store().snapshot())->boards("", 1)).front().log_bytes);
  }
  const Head now = head();
  EXPECT_EQ(now.version, static_cast<Version>(deltas + 3));
  EXPECT_GE(now.floor, now.version - 1000 - 1000 / 16);
  EXPECT_LE(now.floor, now.version - 1000);
  EXPECT_LT(largest, 2'000'000U);
  EXPECT_EQ(at("step", now.version), Value(deltas));
  EXPECT_EQ(at("step", now.floor), Value(static_cast<std::int64_t>(now.floor) - 3));
  EXPECT_EQ(at("step", 1), Value(0));
  EXPECT_EQ(at("目标", 1), Value("签证"));
  EXPECT_EQ(fault_at(2), "not_found");
  EXPECT_EQ(fault_at(now.floor - 1), "not_found");
  EXPECT_EQ(code(R"({"base": 5, "set": {"step": 1}})"), "base_too_old");
  EXPECT_EQ(code(R"({"ops": [{"op": "fork", "value": {"parent": ")" + board + R"(", "version": 5}}]})", "f/5"),
            "base_too_old");
  EXPECT_EQ(code(R"({"ops": [{"op": "fork", "value": {"parent": ")" + board + R"(", "version": 1}}]})", "f/1"), "none");
  EXPECT_EQ(value_in(rig.store(), "step", "f/1"), Value(0));
  EXPECT_EQ(code(R"({"ops": [{"op": "revert", "path": "step", "to": 1}]})"), "none");
  EXPECT_EQ(value_in(rig.store(), "step"), Value(0));
  expect_sound();
  expect_sound("f/1");
}

TEST_F(RetentionVerb, WhatWasSoWithinTheAgeCanBeRead) {
  retain(R"({"age_ms": 10000})");
  for (int i = 0; i < 10; ++i) {
    on(R"({"set": {"a": )" + std::to_string(i) + "}}");  // version i + 2, each 2 s after the one before
    rig.now += 2000;
  }
  trim();
  // 21 s have gone by; what was so 10 s ago had been written 1 s before.
  EXPECT_EQ(head().floor, 7U);
  EXPECT_EQ(at("a", 7), Value(5));
  EXPECT_EQ(fault_at(6), "not_found");
  rig.now += 3'600'000;
  trim();
  EXPECT_EQ(head().floor, head().version - 1);
  EXPECT_EQ(at("a", head().version), Value(9));
  expect_sound();
}

TEST_F(RetentionVerb, TheBytesOfTheLogStayBelowTheirLimit) {
  retain(R"({"bytes": 100000})");
  for (int i = 0; i < 200; ++i) on(R"({"set": {"a": ")" + std::to_string(i) + std::string(2000, 'x') + R"("}})");
  trim();
  const auto summary = (*(*rig.store().snapshot())->boards("", 1)).front();
  EXPECT_LE(summary.log_bytes, 100'000U);
  EXPECT_GT(summary.log_bytes, 90'000U);
  expect_sound();
}

TEST_F(RetentionVerb, AResendAfterTheTrimGetsTheFirstReceipt) {
  retain(R"({"versions": 1})");
  auto first = testing::delta(R"({"id": "d-1", "set": {"a": 1}})", board);
  const Receipt before = rig.commit_all({{"analyst", first}})->receipts.front();
  for (int i = 0; i < 5; ++i) on(R"({"set": {"b": )" + std::to_string(i) + "}}");
  trim();
  ASSERT_GT(head().floor, before.version);
  rig.reopen();
  const Receipt again = rig.commit_all({{"analyst", first}})->receipts.front();
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.version, before.version);
  EXPECT_EQ(again.ops[0].outcome, before.ops[0].outcome);
  auto other = testing::delta(R"({"id": "d-1", "set": {"a": 2}})", board);
  EXPECT_EQ(rig.commit_all({{"analyst", other}})->receipts.front().error->code, ErrorCode::id_reused);
  expect_sound();
}

TEST_F(RetentionVerb, AServersDefaultHoldsWhereABoardSaysNothing) {
  const std::string other = "acme/other";
  broker::Pipeline pipeline(rig.store(), rig.roles, nullptr, Retention{3, {}, {}});
  retain("{}", other);  // everything
  for (int i = 0; i < 10; ++i) {
    on(R"({"set": {"a": )" + std::to_string(i) + "}}");
    on(R"({"set": {"a": )" + std::to_string(i) + "}}", other);
  }
  rig.now += 10'000;
  for (auto more = pipeline.trim(rig.now); more.value(); more = pipeline.trim(rig.now)) ASSERT_TRUE(more);
  EXPECT_EQ(head().floor, head().version - 3);
  EXPECT_EQ(head(other).floor, 0U);
}

TEST_F(RetentionVerb, AForkIsTrimmedOnItsOwnAndItsParentAroundIt) {
  for (int i = 1; i <= 20; ++i) on(R"({"set": {"a": )" + std::to_string(i) + R"(, "b": 1}})");
  ASSERT_EQ(code(R"({"ops": [{"op": "fork", "value": {"parent": ")" + board + R"(", "version": 7}}]})", "f/7"), "none");
  for (int i = 1; i <= 20; ++i) on(R"({"set": {"a": )" + std::to_string(100 + i) + "}}", "f/7");
  retain(R"({"versions": 2})");
  retain(R"({"versions": 2})", "f/7");
  trim();
  EXPECT_EQ(head().floor, head().version - 2);
  EXPECT_EQ(head("f/7").floor, head("f/7").version - 2);
  EXPECT_EQ(at("a", 7), Value(7));
  EXPECT_EQ(value_in(rig.store(), "b", "f/7"), Value(1));
  expect_sound();
  expect_sound("f/7");
}

TEST_F(RetentionVerb, WhatAForkRemovedOfItsParentStaysRemovedAndStaysReadable) {
  on(R"({"ops": [{"op": "patch", "path": "国家", "add": ["美国", "英国"]}]})");
  const auto fork = [&](const std::string& name, const std::string& of, Version version) {
    return code(R"({"ops": [{"op": "fork", "value": {"parent": ")" + of + R"(", "version": )" +
                    std::to_string(version) + "}}]}",
                name);
  };
  ASSERT_EQ(fork("f", board, 1), "none");
  on(R"({"ops": [{"op": "patch", "path": "国家", "add": ["日本"]}]})", "f");
  ASSERT_EQ(fork("f/f", "f", 3), "none");
  on(R"({"ops": [{"op": "patch", "path": "国家", "remove": ["美国"]}]})", "f");
  retain(R"({"versions": 1})", "f");
  for (int i = 0; i < 9; ++i) on(R"({"set": {"n": )" + std::to_string(i) + "}}", "f");
  trim();
  EXPECT_EQ(codec::to_json(value_in(rig.store(), "国家", "f/f")), R"(["美国","英国","日本"])");
  EXPECT_EQ(codec::to_json(value_in(rig.store(), "国家", "f")), R"(["英国","日本"])");
  const Version before = head("f").version;
  on(R"({"ops": [{"op": "patch", "path": "国家", "add": ["美国"]}]})", "f");
  const auto loaded = (*rig.store().snapshot())->load("f", std::nullopt, before, 1 << 20U);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(codec::to_json(blackboard::fields(*loaded, *Path::parse("国家"), {rig.now, nullptr}).front().value),
            R"(["英国","日本"])");
  expect_sound("f");
  expect_sound("f/f");
}

TEST_F(RetentionVerb, AForkNamesAndForksOnlyWhatItKeepsItself) {
  for (int i = 0; i < 5; ++i) on(R"({"set": {"n": )" + std::to_string(i) + "}}");
  on(R"({"ops": [{"op": "tag", "path": "$tags.起点", "value": 2}]})");
  ASSERT_EQ(code(R"({"ops": [{"op": "fork", "value": {"parent": ")" + board + R"("}}]})", "f"), "none");
  on(R"({"set": {"m": 1}})", "f");
  EXPECT_EQ(code(R"({"ops": [{"op": "tag", "path": "$tags.x", "value": 4}]})", "f"), "base_too_old");
  EXPECT_EQ(code(R"({"ops": [{"op": "fork", "value": {"parent": "f", "version": 4}}]})", "f/f"), "base_too_old");
  EXPECT_EQ(code(R"({"ops": [{"op": "tag", "path": "$tags.x", "value": 6}]})", "f"), "none");
  EXPECT_EQ(code(R"({"ops": [{"op": "fork", "value": {"parent": "f", "version": 6}}]})", "f/f"), "none");
  // The names of the parent are not the fork's.
  EXPECT_TRUE(value_in(rig.store(), "$tags.起点", "f").is_nil());
  EXPECT_EQ(value_in(rig.store(), "$tags.起点"), Value(2));
  retain(R"({"versions": 1})");
  for (int i = 0; i < 20; ++i) on(R"({"set": {"n": )" + std::to_string(i) + "}}");
  trim();
  EXPECT_EQ(value_in(rig.store(), "n", "f/f"), Value(4));
  EXPECT_EQ(value_in(rig.store(), "n", "f"), Value(4));
  for (const char* each : {"f", "f/f"}) expect_sound(each);
  expect_sound();
}

TEST_F(RetentionVerb, AnErasureReachesForksThatWroteToWhatIsLongGoneHere) {
  on(R"({"set": {"证件": "tmp", "k": 0}})");
  on(R"({"unset": ["证件"]})");
  ASSERT_EQ(code(R"({"ops": [{"op": "fork", "value": {"parent": ")" + board + R"("}}]})", "f"), "none");
  ASSERT_EQ(code(R"({"ops": [{"op": "fork", "value": {"parent": "f"}}]})", "f/f"), "none");
  on(R"({"set": {"证件": "护照 E12345678"}})", "f/f");
  retain(R"({"versions": 1})");
  for (int i = 1; i < 20; ++i) on(R"({"set": {"k": )" + std::to_string(i) + "}}");
  trim();
  const Receipt erased = on(R"({"ops": [{"op": "erase", "path": "证件"}]})");
  EXPECT_EQ(erased.ops[0].outcome, Outcome::applied);
  EXPECT_TRUE(value_in(rig.store(), "证件", "f/f").is_nil());
  while (rig.pipeline().scrub().value()) {
  }
  const auto ledger = rig.store().erasures(0, 100);
  for (const auto& erasure : *ledger) EXPECT_TRUE(erasure.is_done);
  for (const char* each : {"f", "f/f"}) expect_sound(each);
  expect_sound();
}

TEST_F(RetentionVerb, AForkOfATrimmedBoardIsSoundWhenItsParentErases) {
  on(R"({"set": {"x": "秘密", "k": 0}})");
  ASSERT_EQ(code(R"({"ops": [{"op": "fork", "value": {"parent": ")" + board + R"("}}]})", "f"), "none");
  on(R"({"set": {"k": 5}})", "f");
  retain(R"({"versions": 1})");
  for (int i = 1; i < 20; ++i) on(R"({"set": {"k": )" + std::to_string(i) + "}}");
  trim();
  expect_sound("f");
  on(R"({"ops": [{"op": "erase", "path": "x"}]})");
  expect_sound("f");
  expect_sound();
}

TEST_F(RetentionVerb, NamesAreBounded) {
  on(R"({"set": {"a": 1}})");
  for (std::size_t i = 0; i < limits::tags_per_board_max; ++i) {
    ASSERT_EQ(code(R"({"ops": [{"op": "tag", "path": "$tags.t)" + std::to_string(i) + R"(", "value": 1}]})"), "none");
  }
  EXPECT_EQ(code(R"({"ops": [{"op": "tag", "path": "$tags.more", "value": 1}]})"), "too_large");
  EXPECT_EQ(code(R"({"ops": [{"op": "tag", "path": "$tags.t1", "value": 2}]})"), "none");
  EXPECT_EQ(code(R"({"ops": [{"op": "tag", "path": "$tags.t1", "value": null}]})"), "none");
  EXPECT_EQ(code(R"({"ops": [{"op": "tag", "path": "$tags.more", "value": 1}]})"), "none");
}

}  // namespace
}  // namespace tafel
