#include "cli/words.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <map>

#include "common/codec/json.hpp"
#include "common/model/utc.hpp"

namespace tafel::cli {
namespace {

constexpr TimeMs ms_per_day = 24LL * 3600 * 1000;

// Reads a text from the front.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : rest_(text) {}

  // Exactly `digits` digits.
  std::optional<int> number(std::size_t digits) {
    int number = 0;
    if (rest_.size() < digits) return std::nullopt;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + digits, number);
    if (error != std::errc() || end != rest_.data() + digits || number < 0) return std::nullopt;
    rest_.remove_prefix(digits);
    return number;
  }
  bool take(char letter) {
    if (!rest_.starts_with(letter)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Digits after a point, as milliseconds.
  std::optional<int> fraction() {
    int ms = 0;
    std::size_t count = 0;
    for (int weight = 100; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; weight /= 10, ++count) {
      ms += (rest_.front() - '0') * weight;
      rest_.remove_prefix(1);
    }
    return count > 0 ? std::optional(ms) : std::nullopt;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<TimeMs> date_from(TextReader& in) {
  const auto year = in.number(4);
  const auto month = year && in.take('-') ? in.number(2) : std::nullopt;
  const auto day = month && in.take('-') ? in.number(2) : std::nullopt;
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * ms_per_day;
}

std::optional<TimeMs> clock_from(TextReader& in) {
  const auto hour = in.number(2);
  const auto minute = hour && in.take(':') ? in.number(2) : std::nullopt;
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  TimeMs time = (*hour * 60LL + *minute) * 60'000;
  if (!in.take(':')) return time;
  const auto second = in.number(2);
  if (!second || *second > 60) return std::nullopt;
  time += *second * 1000LL;
  if (!in.take('.')) return time;
  const auto ms = in.fraction();
  return ms ? std::optional(time + *ms) : std::nullopt;
}

// Milliseconds that local time is ahead of UTC.
std::optional<TimeMs> zone_from(TextReader& in) {
  if (in.take('Z') || in.at_end()) return 0;
  const int sign = in.take('+') ? 1 : in.take('-') ? -1 : 0;
  const auto hours = sign != 0 ? in.number(2) : std::nullopt;
  if (!hours) return std::nullopt;
  in.take(':');
  const auto minutes = in.at_end() ? std::optional(0) : in.number(2);
  if (!minutes) return std::nullopt;
  return sign * (*hours * 60LL + *minutes) * 60'000;
}

std::optional<TimeMs> iso_time(std::string_view text) {
  TextReader in(text);
  const auto date = date_from(in);
  if (!date || in.at_end()) return date;
  if (!in.take('T') && !in.take(' ')) return std::nullopt;
  const auto clock = clock_from(in);
  const auto zone = clock ? zone_from(in) : std::nullopt;
  if (!zone || !in.at_end()) return std::nullopt;
  return *date + *clock - *zone;
}

std::string source_words(const Value& source) {
  std::string text;
  const std::string kind = text_of(source, "kind");
  const std::string ref = text_of(source, "ref");
  if (!kind.empty() || !ref.empty()) {
    text += fmt::format(", {}{}{}", kind, kind.empty() || ref.empty() ? "" : " ", ref);
  }
  for (const Value& item : list_of(source, "evidence")) {
    if (const auto* name = item.get_if<std::string>()) text += ", evidence " + *name;
  }
  return text;
}

}  // namespace

Result<TimeMs> time_from(std::string_view text, std::string_view name) {
  TimeMs time = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), time);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return time;
  if (const auto iso = iso_time(text)) return *iso;
  return fail(
      Fault::bad_config,
      fmt::format("--{} must be a time as 2026-11-30T09:30:00Z, or milliseconds since 1970, not '{}'", name, text));
}

std::string short_json(const Value* value) {
  constexpr std::size_t longest = 200;
  std::string text = value == nullptr ? "nothing" : codec::to_json(*value);
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // whole letters
  return text.substr(0, end) + "…";
}

std::string who_said(const Value& words) {
  std::string text = fmt::format("{} by {}", text_of(words, "confidence"), text_of(words, "actor"));
  if (const Value* version = words.find("version")) text += fmt::format(", version {}", short_json(version));
  if (const Value* time = words.find("time"); time != nullptr && time->as_int64()) {
    text += ", " + utc_text(*time->as_int64());
  }
  if (const Value* source = words.find("source")) text += source_words(*source);
  return text;
}

std::string text_of(const Value& map, std::string_view member) {
  const Value* found = map.find(member);
  const auto* text = found == nullptr ? nullptr : found->get_if<std::string>();
  return text == nullptr ? std::string() : *text;
}

const List& list_of(const Value& map, std::string_view member) {
  static const List none;
  const Value* found = map.find(member);
  const auto* list = found == nullptr ? nullptr : found->get_if<List>();
  return list == nullptr ? none : *list;
}

std::string outcome_lines(const Receipt& receipt, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < receipt.ops.size(); ++i) {
    const OpResult& op = receipt.ops[i];
    const std::string reason = op.reason ? fmt::format(" ({})", name_of(*op.reason)) : "";
    text += fmt::format("{} {}{}", name_of(op.outcome), i < names.size() ? names[i] : "", reason);
    if (!op.held.empty()) text += fmt::format(", held as {}", fmt::join(op.held, ", "));
    text += "\n";
    for (const LeafResult& leaf : op.leaves) {
      const std::string why = leaf.reason ? fmt::format(" ({})", name_of(*leaf.reason)) : "";
      text += fmt::format("  {} {}{}\n", name_of(leaf.outcome), leaf.path, why);
    }
  }
  return text;
}

std::string outcome_counts(const Receipt& receipt) {
  std::map<Outcome, std::size_t> counts;
  for (const OpResult& op : receipt.ops) ++counts[op.outcome];
  std::string text;
  for (const auto& [outcome, count] : counts)
    text += fmt::format("{} {} op{}\n", name_of(outcome), count, count == 1 ? "" : "s");
  return text;
}

}  // namespace tafel::cli
