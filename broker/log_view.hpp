// What a reader may see of an event: the log for people tells ops, results and changes, each of which may speak of
// paths that the reader has no right to.
#pragma once

#include "common/model/event.hpp"
#include "common/model/rights.hpp"

namespace tafel::broker {

// The event without everything that speaks of a path that may not be read. An op is left out together with its result
// as soon as one leaf it names may not be read. Where nothing is left, the event tells no more than that this version
// exists, and when.
Event visible_part(Event event, const Rights& rights);

}  // namespace tafel::broker
