// Perft: counts the sequences of exactly `depth` complete turns (rules.md section 0). Repetition
// and the quiet and length limits are ignored, every other rule applies.
//
// The last turn is not made but counted. A game may offer `count_turns(position)` for that: the
// number of its complete legal turns, 0 if the game is over.
#pragma once

#include <cstdint>
#include <functional>

#include "core/game.hpp"

namespace deskovky {

// `check` is called now and then, and may throw to end the count.
template <Game G>
std::uint64_t perft(
    const G& game, const typename G::Position& position, int depth,
    const std::function<void()>& check = [] {}) {
  constexpr int kDepthOfCheck = 4;  // milliseconds of work in the larger games
  if (depth == 0) return 1;
  if (depth == kDepthOfCheck) check();
  if constexpr (requires { game.count_turns(position); }) {
    if (depth == 1 && !position.is_turn_open()) return game.count_turns(position);
  }
  if (!position.is_turn_open() && game.outcome(position).is_over()) return 0;
  ActionList actions;
  game.legal_actions(position, actions);
  if (G::kInfo.single_step_turns && depth == 1) return actions.size();
  std::uint64_t count = 0;
  for (const Action action : actions) {
    // A game may offer `is_whole_turn(position, action)`: true if the legal action is sure to
    // complete the turn, so that it need not be made to be counted.
    if constexpr (requires { game.is_whole_turn(position, action); }) {
      if (depth == 1 && game.is_whole_turn(position, action)) {
        ++count;
        continue;
      }
    }
    auto next = position;
    game.apply(next, action);
    count += perft(game, next, next.is_turn_open() ? depth : depth - 1, check);
  }
  return count;
}

}  // namespace deskovky
