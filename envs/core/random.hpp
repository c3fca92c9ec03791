// A small random stream: SplitMix64 (Steele, Lea and Flood 2014). One per game, so that results do
// not depend on how games are spread over threads.
#pragma once

#include <cstdint>

#include "core/game.hpp"

namespace deskovky {

class Random {
 public:
  explicit Random(std::uint64_t seed = 0, std::uint64_t stream = 0)
      : state_(mix(mix(seed) ^ stream)) {}

  std::uint64_t next() {
    const std::uint64_t value = mix(state_);
    state_ += 0x9e3779b97f4a7c15;
    return value;
  }

  // A number in [0, bound), without division (Lemire 2019); its bias is below 2^-32 * bound.
  int below(int bound) { return static_cast<int>(((next() >> 32) * bound) >> 32); }

  // A number in (0, 1).
  double uniform() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }

  std::uint64_t state() const { return state_; }
  void set_state(std::uint64_t state) { state_ = state; }

 private:
  std::uint64_t state_;
};

}  // namespace deskovky
