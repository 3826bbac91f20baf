// Holds one event of the server's log against the state before it: nothing may disappear whose writer's base lies below
// it, unless a surer word covers it, and then it must be found among the suggestions. Knows after-images only, no merge
// rule. Pure.
#pragma once

#include <string>
#include <vector>

#include "blackboard/board.hpp"
#include "common/codec/event_codec.hpp"

namespace tafel::demo {

// One sentence for each thing that the event lost; empty when it is sound.
std::vector<std::string> unlawful_losses(const blackboard::Board& before, const codec::FeedEvent& event);

}  // namespace tafel::demo
