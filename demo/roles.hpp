// What each role has to say about a turn, given the board that it saw: the whole behaviour of the agents. Pure.
//
// Paths: dialogue (log), phase, turns (counter), work.done (counter: one per agent and turn), facts.heard (counter),
// mentions (set), trip.<domain>.<slot> (registers), trip.<domain>.selectedResults (sets).
#pragma once

#include <cstddef>

#include "agents_sdk/cpp/agent.hpp"
#include "blackboard/board.hpp"
#include "demo/dialogues.hpp"
#include "demo/team.hpp"

namespace tafel::demo {

// A turn as an agent meets it.
struct Moment {
  const Dialogue& dialogue;
  std::size_t turn = 0;
  const blackboard::Board& seen;  // at the base of the delta
};

// Adds the ops of `member` to a delta that carries the base of what was seen. The coordinator brings the turn to the
// board; all others answer to it and count themselves at work.done.
void speak(const Member& member, const Moment& moment, sdk::DeltaBuilder& delta);

// The coordinator's last word on a board.
void close_board(sdk::DeltaBuilder& delta);

inline constexpr std::string_view phase_closed = "closed";

}  // namespace tafel::demo
