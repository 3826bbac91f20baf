#include "demo/oracle.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "blackboard/read.hpp"

namespace tafel::demo {
namespace {

// A word with its place in time.
struct Mention {
  const Word* word;
  Version version;
  Version base;
};

bool had_seen(const Mention& later, const Mention& earlier) { return later.base >= earlier.version; }

// All that was said of one field.
struct Story {
  std::vector<Mention> says;
  std::map<std::string, std::vector<Mention>> adds;  // by the element's canonical form
  std::map<std::string, std::vector<Mention>> removes;
  std::vector<Mention> counts;
  std::vector<Mention> appends;
};

bool contains(const std::vector<Value>& values, const Value& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::map<Path, Story> stories_of(const Schedule& schedule) {
  std::map<Path, Story> stories;
  for (const Arrival& arrival : schedule.arrivals) {
    for (const Word& word : arrival.news) {
      Story& story = stories[word.path];
      const Mention mention{&word, arrival.version, arrival.base};
      switch (word.act) {
        case Word::Act::say: story.says.push_back(mention); break;
        case Word::Act::add: story.adds[canonical(word.value)].push_back(mention); break;
        case Word::Act::remove: story.removes[canonical(word.value)].push_back(mention); break;
        case Word::Act::count: story.counts.push_back(mention); break;
        case Word::Act::append: story.appends.push_back(mention); break;
      }
    }
  }
  return stories;
}

// --- registers -----------------------------------------------------------------------------------------------------

// The values that must be shown: of the surest words, those that nobody as sure replaced after having seen them.
std::vector<Value> standing_values(const std::vector<Mention>& says, Confidence surest) {
  std::vector<Value> standing;
  for (const Mention& mention : says) {
    if (mention.word->confidence != surest || contains(standing, mention.word->value)) continue;
    const bool is_replaced = std::any_of(says.begin(), says.end(), [&](const Mention& later) {
      return later.word->confidence == surest && had_seen(later, mention);
    });
    if (!is_replaced) standing.push_back(mention.word->value);
  }
  return standing;
}

void judge_register(const std::vector<Mention>& says, const EndField* end, Losses& losses) {
  if (says.empty()) return;
  if (end != nullptr && is_blank(end->value)) {
    ++losses.flushed;
    return;
  }
  const Confidence surest = std::max_element(says.begin(), says.end(), [](const Mention& a, const Mention& b) {
                              return a.word->confidence < b.word->confidence;
                            })->word->confidence;
  const std::vector<Value> standing = standing_values(says, surest);
  if (surest >= Confidence::confirmed && (end == nullptr || !contains(standing, end->value))) {
    ++losses.facts;
    return;
  }
  for (const Value& value : standing) {
    const bool is_shown = end != nullptr && (end->value == value || contains(end->beside, value));
    if (!is_shown) ++losses.updates;
  }
}

// --- sets ----------------------------------------------------------------------------------------------------------

const std::vector<Mention>& mentions_of(const std::map<std::string, std::vector<Mention>>& all,
                                        const std::string& element) {
  static const std::vector<Mention> none;
  const auto found = all.find(element);
  return found == all.end() ? none : found->second;
}

// Nobody who had seen this addition removed it, however unsure.
bool must_be_present(const Mention& add, const std::vector<Mention>& removes) {
  return std::none_of(removes.begin(), removes.end(), [&](const Mention& remove) { return had_seen(remove, add); });
}

// Somebody at least as sure removed it after having seen it.
bool must_be_gone(const Mention& add, const std::vector<Mention>& removes) {
  return std::any_of(removes.begin(), removes.end(), [&](const Mention& remove) {
    return had_seen(remove, add) && remove.word->confidence >= add.word->confidence;
  });
}

void judge_set(const Story& story, const EndField* end, Losses& losses) {
  const auto* shown = end == nullptr ? nullptr : end->value.get_if<List>();
  bool is_flushed = false;
  for (const auto& [element, adds] : story.adds) {
    const auto& removes = mentions_of(story.removes, element);
    const bool is_shown = shown != nullptr && contains(*shown, adds.front().word->value);
    const bool is_needed =
        std::any_of(adds.begin(), adds.end(), [&](const Mention& add) { return must_be_present(add, removes); });
    const bool is_removed =
        std::all_of(adds.begin(), adds.end(), [&](const Mention& add) { return must_be_gone(add, removes); });
    if (is_shown && is_removed) ++losses.updates;
    if (is_shown || !is_needed) continue;
    if (end != nullptr && is_blank(end->value)) {
      is_flushed = true;
    } else {
      ++losses.members;
    }
  }
  if (is_flushed) ++losses.flushed;
}

// --- counters and logs ---------------------------------------------------------------------------------------------

void judge_counter(const std::vector<Mention>& counts, const EndField* end, Losses& losses) {
  std::int64_t total = 0;
  for (const Mention& count : counts) total += count.word->value.as_int64().value_or(0);
  const std::int64_t shown = end == nullptr ? 0 : end->value.as_int64().value_or(0);
  const auto missing = static_cast<std::size_t>(total > shown ? total - shown : shown - total);
  losses.updates += std::min(missing, counts.size());
  losses.increments += std::min(missing, counts.size());
}

void judge_log(const std::vector<Mention>& appends, const EndField* end, Losses& losses) {
  const auto* shown = end == nullptr ? nullptr : end->value.get_if<List>();
  for (const Mention& append : appends) {
    if (shown == nullptr || !contains(*shown, append.word->value)) ++losses.updates;
  }
}

void flatten(const std::optional<Path>& path, const Value& tree, Ending& ending) {
  const auto* map = tree.get_if<Map>();
  if (map == nullptr) {
    ending[*path] = {tree, {}};
    return;
  }
  for (const auto& [key, value] : *map) flatten(path ? path->child(key) : *Path::from_segments({key}), value, ending);
}

}  // namespace

Losses& Losses::operator+=(const Losses& other) {
  flushed += other.flushed;
  members += other.members;
  facts += other.facts;
  updates += other.updates;
  increments += other.increments;
  return *this;
}

Ending ending_of(const blackboard::Board& board) {
  Ending ending;
  for (blackboard::FieldView& field : blackboard::fields(board, std::nullopt, {})) {
    EndField end{std::move(field.value), {}};
    for (Sibling& sibling : field.conflicts) end.beside.push_back(std::move(sibling.value));
    ending.emplace(field.path, std::move(end));
  }
  return ending;
}

Ending ending_of(const Value& tree) {
  Ending ending;
  if (tree.get_if<Map>() != nullptr) flatten(std::nullopt, tree, ending);
  return ending;
}

Losses find_losses(const Schedule& schedule, const Ending& ending) {
  Losses losses;
  for (const auto& [path, story] : stories_of(schedule)) {
    const auto found = ending.find(path);
    const EndField* end = found == ending.end() ? nullptr : &found->second;
    judge_register(story.says, end, losses);
    judge_set(story, end, losses);
    judge_counter(story.counts, end, losses);
    judge_log(story.appends, end, losses);
  }
  return losses;
}

}  // namespace tafel::demo
