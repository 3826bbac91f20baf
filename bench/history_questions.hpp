// Questions about the past of one field, and the answers that must come.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "bench/counting_kv.hpp"
#include "bench/history_board.hpp"
#include "broker/queries.hpp"

namespace tafel::bench {

enum class About {
  get_at,          // get --at V
  blame,           // who wrote what stands there
  blame_at,        // blame --at V
  history,         // the newest page of history
  history_before,  // a page from the midst of it
};
inline constexpr About all_questions[] = {About::get_at, About::blame, About::blame_at, About::history,
                                          About::history_before};
const char* name_of(About about);

struct Asked {
  About about = About::get_at;
  std::size_t field = 0;
  Version version = 0;  // V; the newest one where the question names none
  broker::Question question;
};

// A random field, at a random version at which it is there.
Asked random_question(About about, const HistoryBoard& board, std::mt19937_64& dice);

broker::Answer answer_of(store::Store& store, const Asked& asked);

// What must be in it, no less and no more.
bool is_right(const HistoryBoard& board, const Asked& asked, const broker::Answer& answer);

// The most look-ups that such a question may take. One way back through the n writes of a field reads no more than
// 2 log2(n) events, rounded up; the ways to the revisions of one page have all but their ends in common; and the other
// look-ups do not depend on the length of the history.
LookUps look_ups_allowed(const HistoryBoard& board, const Asked& asked);

}  // namespace tafel::bench
