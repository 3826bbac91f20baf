// The demo from end to end: real processes, the small set.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "common/codec/json.hpp"
#include "demo/process.hpp"
#include "tests/temporary_directory.hpp"

namespace tafel::demo {
namespace {

namespace fs = std::filesystem;

constexpr int patience_ms = 240'000;

class Run : public ::testing::Test {
 protected:
  Run() {
    fs::create_directories(temporary());
    ::setenv("TMPDIR", temporary().c_str(), 1);
  }
  ~Run() override { ::unsetenv("TMPDIR"); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  fs::path temporary() const { return directory / "tmp"; }
  std::string summary_file() const { return (directory / "summary.json").string(); }
  std::string errors() const { return read(directory / "errors"); }

  static std::string read(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  Process start(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), TAFEL_DEMO_PROGRAM);
    auto process = Process::start({"tafel_demo", arguments, directory / "errors"});
    EXPECT_TRUE(process.has_value());
    return std::move(*process);
  }

  // Waits for the end and keeps the output flowing.
  static std::string finish(Process& process) {
    std::string output;
    for (int waited = 0; waited < patience_ms; waited += 20) {
      for (const std::string& line : process.take_lines()) output += line + "\n";
      if (process.wait(20)) break;
    }
    for (const std::string& line : process.take_lines()) output += line + "\n";
    return output;
  }

  const testing::TemporaryDirectory place;
  const fs::path directory = place.path();
};

std::uint64_t number(const Value& map, std::string_view name) {
  const Value* member = map.find(name);
  return member == nullptr ? 0 : static_cast<std::uint64_t>(member->as_int64().value_or(0));
}

TEST_F(Run, TheSmallSetPassesAllItsChecks) {
  Process demo = start({"--pace", "30", "--json", summary_file()});
  const std::string output = finish(demo);
  ASSERT_TRUE(demo.has_ended());
  ASSERT_EQ(demo.exit_code(), 0) << output << errors();
  const auto summary = codec::parse_json(read(summary_file()));
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(*summary->find("passed"), Value(true));
  EXPECT_EQ(number(*summary, "dialogues"), 8U);
  EXPECT_EQ(number(*summary, "processes"), 9U);
  EXPECT_EQ(number(*summary, "mirrors"), 64U);
  EXPECT_GT(number(*summary, "held"), 0U);
  EXPECT_GT(number(*summary, "kept_both"), 0U);
  EXPECT_GT(number(*summary, "ignored_blank"), 0U);
  EXPECT_GE(number(*summary, "deltas_below_head") * 10, number(*summary, "deltas") * 3);
  const Value& columns = *summary->find("columns");
  for (const char* loss : {"flushed", "members", "facts", "updates"})
    EXPECT_EQ(number(*columns.find("tafel"), loss), 0U) << loss;
  EXPECT_TRUE(fs::is_empty(temporary())) << "a temporary directory was left";
  EXPECT_NE(output.find("before the next turn is broadcast"), std::string::npos);
  EXPECT_NE(output.find("kept both  "), std::string::npos);
  EXPECT_NE(output.find("held       "), std::string::npos);
}

TEST_F(Run, SixAgentsAreEnough) {
  Process demo = start({"--pace", "30", "--agents", "6", "--quiet", "--limit", "4", "--json", summary_file()});
  const std::string output = finish(demo);
  ASSERT_EQ(demo.exit_code(), 0) << output << errors();
  EXPECT_EQ(output.find("The context of"), std::string::npos);
}

TEST_F(Run, AnInterruptEndsEverythingAndLeavesNothing) {
  Process demo = start({"--pace", "2000"});
  std::string output;
  for (int waited = 0; waited < patience_ms && output.find("Server: tcp://") == std::string::npos; waited += 20) {
    for (const std::string& line : demo.take_lines()) output += line + "\n";
    ASSERT_FALSE(demo.wait(20)) << output << errors();
  }
  demo.signal(SIGINT);
  finish(demo);
  ASSERT_TRUE(demo.has_ended());
  EXPECT_EQ(demo.exit_code(), 130);
  EXPECT_TRUE(fs::is_empty(temporary())) << "a temporary directory was left";
}

TEST_F(Run, KeepLeavesTheServerUpUntilAnInterrupt) {
  const fs::path data = directory / "data";
  Process demo = start({"--pace", "10", "--limit", "2", "--keep", "--data", data.string()});
  std::string output;
  for (int waited = 0; waited < patience_ms && output.find("Ctrl-C stops the server") == std::string::npos;
       waited += 20) {
    for (const std::string& line : demo.take_lines()) output += line + "\n";
    ASSERT_FALSE(demo.wait(20)) << output << errors();
  }
  EXPECT_NE(output.find("--server tcp://127.0.0.1:"), std::string::npos);
  demo.signal(SIGINT);
  finish(demo);
  EXPECT_LE(demo.exit_code(), 1) << errors();
  EXPECT_TRUE(fs::exists(data / "server"));
  EXPECT_TRUE(fs::exists(data / "journals" / "listener.jsonl"));
}

TEST_F(Run, WrongUseIsToldWithCodeTwo) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--agents", "5"},
                                                    {"--dialogues", "/no/such/file"},
                                                    {"--nonsense"},
                                                    {"--data", "/usr"}}) {
    Process demo = start(arguments);
    finish(demo);
    EXPECT_EQ(demo.exit_code(), 2) << arguments.front();
  }
}

}  // namespace
}  // namespace tafel::demo
