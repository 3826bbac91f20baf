#include "blackboard/trail.hpp"

#include "common/base/check.hpp"

namespace tafel::blackboard {

Trail::Pointers Trail::push(Version version) {
  TAFEL_CHECK(version > newest(), "a trail grows by newer versions only");
  Pointers pointers;
  pointers.previous = newest();
  const bool joins = steps_.size() >= 2 && steps_[0].height == steps_[1].height;
  if (joins) {
    const std::uint32_t height = steps_[0].height + 1;
    steps_.erase(steps_.begin(), steps_.begin() + 2);
    steps_.insert(steps_.begin(), Step{version, height});
  } else {
    steps_.insert(steps_.begin(), Step{version, 0});
  }
  pointers.jump = steps_.size() >= 2 ? steps_[1].version : 0;
  return pointers;
}

Version Trail::start_for(Version version) const {
  Version start = 0;
  for (const Step& step : steps_) {
    if (step.version < version) break;
    start = step.version;
  }
  return start;
}

}  // namespace tafel::blackboard
