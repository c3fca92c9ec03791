// State: one game in progress. It owns what a position does not hold: the steps made so far (for
// undo) and the keys of past turns (for repetition). Searches walk it by apply and undo.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/game.hpp"

namespace deskovky {

// Appends the text of the next step to that of the turn so far: jumps share squares
// (a3c5 + c5e7 = a3c5e7), a placement follows a comma (a1a7,P@c2).
inline void append_step_text(std::string& turn, const std::string& step) {
  if (turn.empty()) {
    turn = step;
    return;
  }
  std::size_t origin_size = 1;
  while (origin_size < step.size() && '0' <= step[origin_size] && step[origin_size] <= '9') {
    ++origin_size;
  }
  if (origin_size > 1 && turn.ends_with(step.substr(0, origin_size))) {
    turn += step.substr(origin_size);
  } else {
    turn += "," + step;
  }
}

template <Game G>
class State {
 public:
  using Position = typename G::Position;
  using Step = typename History<Position>::Step;

  State(const G& game, const Position& start) : game_(game), start_(start) { reset(); }

  // Back to the start.
  void reset() {
    steps_.clear();
    turn_starts_.clear();
    position_ = start_;
    begin_turn();
  }

  const G& game() const { return game_; }
  const Position& start() const { return start_; }
  const Position& position() const { return position_; }
  const std::vector<Step>& steps() const { return steps_; }
  int num_steps() const { return static_cast<int>(steps_.size()); }
  int to_move() const { return position_.to_move(); }
  const Outcome& outcome() const { return outcome_; }
  bool is_over() const { return outcome_.is_over(); }
  int num_pieces(int player) const { return game_.num_pieces(position_, player); }
  std::uint64_t key() const { return game_.key(position_); }

  void legal_actions(ActionList& list) const {
    list.clear();
    if (!is_over()) game_.legal_actions(position_, list);
  }

  // Makes a step that the caller knows to be legal.
  void apply(Action action) {
    steps_.push_back({position_, action});
    game_.apply(position_, action);
    begin_turn();
  }

  void undo() {
    position_ = steps_.back().before;
    steps_.pop_back();
    outcome_ = {};  // only an ongoing game is stepped
    while (!turn_starts_.empty() && turn_starts_.back().num_steps > num_steps()) {
      turn_starts_.pop_back();
    }
  }

  int occurrences() const {
    return !position_.is_turn_open() && !turn_starts_.empty() ? turn_starts_.back().occurrences : 1;
  }

  // Writes what `player` sees. The absolute view has one more plane, the last: ones where player 1
  // is to move.
  void write_observation(int player, Planes& planes, bool is_absolute) const {
    game_.write_observation(position_, player, occurrences(), planes);
    if (is_absolute && to_move()) planes.fill(G::kInfo.num_planes, 1.0f);
  }
  // The same into a row that may hold anything.
  void write_observation(int player, float* out, bool is_absolute) const {
    constexpr int kNumSquares = G::kInfo.num_squares();
    std::fill_n(out, (G::kInfo.num_planes + is_absolute) * kNumSquares, 0.0f);
    Planes planes(out, kNumSquares);
    write_observation(player, planes, is_absolute);
  }

  std::string action_to_text(Action action) const {
    return game_.action_to_text(position_, action);
  }

  // The texts of the turns so far.
  std::vector<std::string> history() const {
    std::vector<std::string> turns;
    for (const Step& step : steps_) {
      if (turns.empty() || !step.before.is_turn_open()) turns.emplace_back();
      append_step_text(turns.back(), game_.action_to_text(step.before, step.action));
    }
    return turns;
  }

  // Calls visit(turn text, steps) for each legal turn, in ascending order of its actions, until it
  // returns false.
  template <class Visit>
  void for_each_turn(Visit&& visit) const {
    if (is_over()) return;
    std::vector<Action> steps;
    visit_turns(position_, "", steps, [](const std::string&, bool) { return true; }, visit);
  }

  // Returns the steps of a legal turn given as text; throws IllegalActionError for any other text.
  std::vector<Action> turn_from_text(std::string_view turn) const {
    std::vector<Action> steps, found;
    if (!is_over()) {
      // Only turns that begin as the text does are followed.
      const auto is_worth_following = [&](const std::string& text, bool is_complete) {
        return is_complete ? text == turn : turn.starts_with(text);
      };
      visit_turns(position_, "", steps, is_worth_following,
                  [&](const std::string&, const std::vector<Action>& turn_steps) {
                    found = turn_steps;
                    return false;
                  });
    }
    if (found.empty()) {
      throw IllegalActionError("'" + std::string(turn) + "' is not a whole legal turn" +
                               where(true));
    }
    return found;
  }

  // Returns the legal action with that text; throws IllegalActionError.
  Action action_from_text(std::string_view text) const {
    ActionList actions;
    legal_actions(actions);
    for (const Action action : actions) {
      if (action_to_text(action) == text) return action;
    }
    throw IllegalActionError("'" + std::string(text) + "' is not a legal step" + where());
  }

  // Throws IllegalActionError, naming the action, its text and the legal ones.
  void check_action(long long action) const {
    constexpr int kNumActions = G::kInfo.num_actions();
    if (action < 0 || action >= kNumActions) {
      throw IllegalActionError("action " + std::to_string(action) + " is not in [0, " +
                               std::to_string(kNumActions) + ")");
    }
    ActionList actions;
    legal_actions(actions);
    if (!actions.contains(static_cast<Action>(action))) {
      throw IllegalActionError("action " + std::to_string(action) + " (" +
                               action_to_text(static_cast<Action>(action)) + ") is not legal" +
                               where());
    }
  }

  bool operator==(const State& other) const {
    return game_.to_fen(position_) == game_.to_fen(other.position_) &&
           game_.to_fen(start_) == game_.to_fen(other.start_) &&
           std::equal(steps_.begin(), steps_.end(), other.steps_.begin(), other.steps_.end(),
                      [](const Step& a, const Step& b) { return a.action == b.action; });
  }

 private:
  // At the start of a turn: remember it and see whether the game ends (order of rules.md: rules of
  // the position, then those of the history, then the cap).
  void begin_turn() {
    outcome_ = {};
    if (position_.is_turn_open()) return;
    if (G::kInfo.uses_repetition) {
      const std::uint64_t key = game_.key(position_);
      int occurrences = 1;
      const int num_turns = static_cast<int>(turn_starts_.size());
      for (int i = num_turns - 2; i >= num_turns - reversible_turns(); i -= 2) {
        if (turn_starts_[i].key == key) {
          occurrences = turn_starts_[i].occurrences + 1;
          break;
        }
      }
      turn_starts_.push_back({key, occurrences, num_steps()});
    }
    outcome_ = game_.outcome(position_);
    if (!outcome_.is_over()) outcome_ = game_.adjudicate(position_, {steps_, turn_starts_});
    if (!outcome_.is_over() && position_.turns >= game_.options.max_turns) {
      outcome_ = draw(Termination::kMaxTurns);
    }
  }

  // How many turns back an equal position can lie. A game may narrow that by offering
  // `reversible_turns(position)`.
  int reversible_turns() const {
    const int num_turns = static_cast<int>(turn_starts_.size());
    if constexpr (requires { game_.reversible_turns(position_); }) {
      return std::min<int>(num_turns, game_.reversible_turns(position_));
    }
    return num_turns;
  }

  template <class IsWorthFollowing, class Visit>
  bool visit_turns(const Position& position, const std::string& text, std::vector<Action>& steps,
                   const IsWorthFollowing& is_worth_following, Visit&& visit) const {
    ActionList actions;
    game_.legal_actions(position, actions);
    for (const Action action : actions) {
      Position next = position;
      game_.apply(next, action);
      std::string turn = text;
      append_step_text(turn, game_.action_to_text(position, action));
      if (!is_worth_following(turn, !next.is_turn_open())) continue;
      steps.push_back(action);
      const bool go_on = next.is_turn_open()
                             ? visit_turns(next, turn, steps, is_worth_following, visit)
                             : visit(turn, steps);
      steps.pop_back();
      if (!go_on) return false;
    }
    return true;
  }
  // The rest of a message: the position and what is legal there, steps or whole turns.
  std::string where(bool is_of_turns = false) const {
    if (is_over()) return ": the game is over";
    constexpr int kShown = 40;
    std::string text = " in '";
    text += game_.to_fen(position_) + "'; legal:";
    int count = 0;
    const auto show = [&](const std::string& move) {
      if (++count <= kShown) text += " " + move;
      return count <= kShown;
    };
    if (is_of_turns) {
      for_each_turn([&](const std::string& turn, const auto&) { return show(turn); });
    } else {
      ActionList actions;
      legal_actions(actions);
      for (const Action action : actions) {
        if (!show(action_to_text(action))) break;
      }
    }
    if (count > kShown) text += " ...";
    return text;
  }

  G game_;
  Position start_;
  Position position_;
  Outcome outcome_;
  std::vector<Step> steps_;
  std::vector<TurnStart> turn_starts_;
};

}  // namespace deskovky
