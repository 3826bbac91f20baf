// What a person sees while the demo runs: a line of numbers now and then, one board growing, some of what is held and
// kept, one agent's context before and after a broadcast.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "demo/reports.hpp"

namespace tafel::demo {

struct ShowSettings {
  bool quiet = false;
  bool is_terminal = false;  // a line of numbers that is written over; else plain lines
  std::size_t dialogues = 0;
  std::size_t turns = 0;
};

class Show {
 public:
  explicit Show(const ShowSettings& settings) : settings_(settings) {}

  void line(const std::string& text);
  // `now_ms` is any clock that never goes back.
  void take(const Report& report, const std::string& actor, std::int64_t now_ms);
  // Writes the numbers when it is time to.
  void tick(std::int64_t now_ms);
  void end();  // of the live part

  const Tally& tally() const { return tally_; }
  // Between the first receipt and the last one.
  double seconds() const { return static_cast<double>(last_ms_ - first_ms_) / 1000; }

 private:
  void count(const Report& report, std::int64_t now_ms);
  void show_example(const Report& report, std::int64_t now_ms);
  void show_lines(const std::string& title, const std::vector<std::string>& lines);
  std::string numbers() const;

  ShowSettings settings_;
  Tally tally_;
  std::size_t turns_ = 0;
  std::size_t closed_ = 0;
  std::size_t examples_ = 0;
  std::int64_t first_ms_ = 0;
  std::int64_t last_ms_ = 0;
  std::int64_t numbers_due_ms_ = 0;
  std::int64_t example_due_ms_ = 0;
  bool is_status_open_ = false;  // the cursor stands behind the line of numbers
};

}  // namespace tafel::demo
