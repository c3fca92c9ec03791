// Minimax: iterative deepening alpha-beta over any SearchState.
//
// Depth counts turns, not steps, and a score changes sign only where the player to move changes: a
// turn of several steps is searched whole, whoever moves after it. Where the depth is used up,
// quiescence follows the urgent steps (captures and the like) until the position is quiet.
//
// With a limit of depth the search is full-width: its score is exactly that of plain minimax with
// quiescence at the leaves, whatever table, windows and order of moves do. Without one, it plays to
// win: late quiet steps are searched less deep, but never less than `full_depth_` turns from the
// root, and a draw counts as a little less than an even position, or a won game against a weaker
// player would often end by repetition. In both cases
// a win or loss within the depth of the result is found, and scored by its distance (but for what
// the table does to repetitions, below). What only deeper lines see scores below kProven: quiescence
// lets a player stand still instead of capturing, so a win found there is real, but perhaps not the
// quickest.
//
// What makes the table safe. A key does not tell how a position was reached, but repetition, quiet
// counts and length limits end games by their past. So a stored score is used only
//   - in the iteration that stored it and after as many turns;
//   - if on neither line a position occurred that had occurred before;
//   - if no game below ended by its past.
// In such a subtree a third occurrence takes two cycles of four turns: the scores are exact up to
// depth 7. Deeper, a position met three times within one line of the tree may be scored as if the
// game went on. The best action of an entry is only an order to try moves in, and always used.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "core/random.hpp"
#include "search/search_state.hpp"

namespace deskovky {

struct Minimax {
  static constexpr int kMaxDepth = 63;
  static constexpr int kWin = 1'000'000;         // a win after n turns, within the depth: kWin - n
  static constexpr int kProven = kWin - 1000;    // a win that only deeper lines see: kProven - n
  static constexpr int kGuess = kProven - 1000;  // an evaluation is at most that

  struct Limits {
    std::optional<int> depth;
    std::int64_t nodes = std::numeric_limits<std::int64_t>::max();
    std::size_t table_bytes = 0;
  };

  struct Result {
    Action action = 0;
    int score = 0;  // for the player to move
    int depth = 0;  // how many turns ahead every line was searched
    std::int64_t nodes = 0;
    std::size_t table_bytes = 0;              // the size of the table in the end
    std::vector<Action> principal_variation;  // steps, `action` first

    bool is_proven() const { return std::abs(score) > kProven; }
    int num_turns_to_end() const { return kWin - std::abs(score); }
  };
};

// A hash table of searched positions, two to a bucket. It grows with its use, so that a short
// search does not pay for a large table.
class TranspositionTable {
 public:
  enum Bound : std::uint8_t { kExact, kLower, kUpper };

  struct Entry {
    std::uint64_t key = 0;
    std::int32_t score : 24 = 0;
    std::uint32_t num_turns : 8 = 0;  // since the root
    std::uint16_t action = 0;
    std::uint8_t iteration = 0;  // 0: an empty entry
    std::uint8_t depth : 6 = 0;
    Bound bound : 2 = kExact;
  };
  static_assert(sizeof(Entry) == 16 && Minimax::kMaxDepth < 64 && Minimax::kWin < 1 << 23);

  explicit TranspositionTable(std::size_t most_bytes)
      : most_buckets_(std::bit_floor(most_bytes / sizeof(Bucket))),
        buckets_(std::min<std::size_t>(most_buckets_, 1024)) {}

  std::size_t num_bytes() const { return buckets_.size() * sizeof(Bucket); }

  const Entry* find(std::uint64_t key) const {
    if (buckets_.empty()) return nullptr;
    for (const Entry& entry : bucket(key)) {
      if (entry.iteration && entry.key == key) return &entry;
    }
    return nullptr;
  }

  // The first place of a bucket keeps the deepest entry of the iteration, the second the latest.
  void store(const Entry& entry) {
    if (buckets_.empty()) return;
    auto& [deepest, latest] = bucket(entry.key);
    const bool is_first = deepest.key == entry.key || deepest.iteration != entry.iteration ||
                          deepest.depth <= entry.depth;
    Entry& place = is_first ? deepest : latest;
    num_used_ += place.iteration == 0;
    place = entry;
    if (num_used_ > buckets_.size() && buckets_.size() < most_buckets_) grow();
  }

 private:
  using Bucket = std::array<Entry, 2>;

  Bucket& bucket(std::uint64_t key) { return buckets_[key & (buckets_.size() - 1)]; }
  const Bucket& bucket(std::uint64_t key) const { return buckets_[key & (buckets_.size() - 1)]; }

  void grow() {
    std::vector<Bucket> old(2 * buckets_.size());
    old.swap(buckets_);
    for (const Bucket& full : old) {
      for (const Entry& entry : full) {
        if (!entry.iteration) continue;
        auto& [deepest, latest] = bucket(entry.key);
        (deepest.iteration ? latest : deepest) = entry;
      }
    }
  }

  std::size_t most_buckets_;
  std::size_t num_used_ = 0;
  std::vector<Bucket> buckets_;
};

// One search. `is_out_of_time()` is asked now and then; it may throw to give up altogether.
template <SearchState S, class IsOutOfTime>
class MinimaxSearch {
 public:
  MinimaxSearch(const S& state, const Minimax::Limits& limits, std::uint64_t seed,
                IsOutOfTime is_out_of_time)
      : state_(state),
        limits_(limits),
        is_out_of_time_(is_out_of_time),
        table_(limits.table_bytes),
        root_player_(state.to_move()),
        draw_score_(limits.depth ? 0 : -kContempt),
        num_actions_(state.num_actions()),
        history_(2 * num_actions_) {
    // Only a strictly better action replaces an earlier one: among equals the order decides.
    ActionList actions;
    state.legal_actions(actions);
    root_actions_.assign(actions.begin(), actions.end());
    Random random(seed);
    for (int i = static_cast<int>(root_actions_.size()) - 1; i > 0; --i) {
      std::swap(root_actions_[i], root_actions_[random.below(i + 1)]);
    }
  }

  // Of a state that is not over. Depth 1 is always completed, if need be without quiescence.
  Minimax::Result run() {
    Minimax::Result result;
    const int most_depth = limits_.depth.value_or(Minimax::kMaxDepth);
    for (int depth = 1; depth <= most_depth; ++depth) {
      iteration_ = depth;
      full_depth_ = limits_.depth ? depth : depth - depth / 3;
      const int score = search_root(result.score);
      // What a broken-off iteration found best so far is better than the action before, unless it
      // loses: then the rest might not.
      const auto& line = frame(0).line;
      if (is_stopped_ && (line.empty() || score < -Minimax::kGuess)) break;
      result.action = line[0];
      result.score = score;
      result.principal_variation = line;
      if (is_stopped_) break;
      result.depth = full_depth_;
      const auto best = std::find(root_actions_.begin(), root_actions_.end(), line[0]);
      std::rotate(root_actions_.begin(), best, best + 1);
      if (result.is_proven()) break;  // nearer ends would have been found earlier
    }
    result.nodes = num_nodes_;
    result.table_bytes = table_.num_bytes();
    return result;
  }

  // The score of the position if only urgent steps are looked at.
  int quiescence() { return quiesce(0, -kInfinity, kInfinity, 0, kMostUrgentTurns); }

 private:
  static constexpr int kInfinity = 2 * Minimax::kWin;
  static constexpr int kContempt = 30;  // in hundredths of the weakest piece
  static constexpr int kNodesPerClock = 32;
  static constexpr int kMostUrgentTurns =
      16;  // quiescence ends there: captives may be dropped again
  // Of the order to try actions in; below kKiller: how much an action has refuted so far.
  static constexpr std::uint64_t kKiller = 1ull << 25, kUrgent = 1ull << 30, kFirst = 1ull << 40;

  // What a node on the line being searched works with.
  struct Frame {
    Frame() {}
    ActionList actions;
    std::array<int, 1024> urgencies;
    std::array<std::uint64_t, 1024> order;  // priority << 16 | ~action
    std::array<Action, 2> killers = {-1, -1};
    std::vector<Action> line;  // the principal variation from here on
  };

  Frame& frame(int height) {
    while (static_cast<int>(frames_.size()) <= height) frames_.emplace_back();
    return frames_[height];
  }

  // Looks first near the last score: what lies outside the window is cut off sooner.
  int search_root(int last_score) {
    int alpha = -kInfinity, beta = kInfinity, width = 40;
    if (iteration_ >= 3) alpha = last_score - width, beta = last_score + width;
    while (true) {
      const int score = search(iteration_, 0, alpha, beta, 0, true);
      if (is_stopped_ || (alpha < score && score < beta)) return score;
      width *= 4;
      if (score <= alpha) alpha = width > 10000 ? -kInfinity : last_score - width;
      if (score >= beta) beta = width > 10000 ? kInfinity : last_score + width;
    }
  }

  // Returns the score for the player to move, `depth` turns ahead; exact within (alpha, beta),
  // else a bound. `num_turns` and `height`: turns and steps since the root. `is_new_line`: no
  // position since the root repeats another.
  int search(int depth, int num_turns, int alpha, int beta, int height, bool is_new_line) {
    const bool is_open_window = beta - alpha > 1;
    if (is_open_window) frame(height).line.clear();  // even if it is broken off at once
    if (must_stop()) return 0;
    const bool is_turn_open = state_.is_turn_open();
    if (depth == 0 && !is_turn_open) {
      return quiesce(num_turns, alpha, beta, height, kMostUrgentTurns);
    }
    ++num_nodes_;
    if (state_.is_over()) return score_of_end(num_turns);
    if (height > 0 && !is_turn_open && is_new_line) is_new_line = state_.occurrences() == 1;

    const std::uint64_t key = state_.search_key();
    Action first = -1;
    if (const auto* entry = table_.find(key)) {
      first = entry->action;
      if (is_new_line && !is_open_window && is_usable(*entry, depth, num_turns, alpha, beta)) {
        return entry->score;
      }
    }

    const int old_alpha = alpha;
    const std::int64_t old_num_ends_by_past = num_ends_by_past_;
    const int num_actions = rate_actions(height, first);
    const bool may_reduce = !limits_.depth && height > 0 && depth >= 2 && !state_.is_check();
    int best = -kInfinity;
    Action best_action = -1;
    for (int i = 0; i < num_actions; ++i) {
      if (i > 0 && is_turn_open && is_late_)
        break;  // only iteration 1: any end of the turn will do
      const auto [action, priority] = next_action(height, i, num_actions);
      const Step step = make(action);
      const int depth_left = depth - step.num_turns, turns_now = num_turns + step.num_turns;
      const auto look = [&](int depth, int low, int high) {
        return step.is_other_player
                   ? -search(depth, turns_now, -high, -low, height + 1, is_new_line)
                   : search(depth, turns_now, low, high, height + 1, is_new_line);
      };
      int score;
      if (i == 0) {
        score = look(depth_left, alpha, beta);
      } else {  // is it better at all? Only then how much
        int reduction = 0;
        if (may_reduce && i >= 3 && priority < kKiller - 1 && step.num_turns == 1) {
          reduction = i >= 12 && depth >= 5 ? 2 : 1;
          reduction = std::min(reduction, depth_left - std::max(full_depth_ - turns_now, 0));
        }
        score = look(depth_left - reduction, alpha, alpha + 1);
        if (reduction > 0 && score > alpha) score = look(depth_left, alpha, alpha + 1);
        if (alpha < score && score < beta) score = look(depth_left, alpha, beta);
      }
      state_.undo();
      if (is_stopped_) return best;
      if (score <= best) continue;
      best = score;
      best_action = action;
      if (score <= alpha) continue;
      alpha = score;
      if (is_open_window) keep_line(height, action, score < beta);
      if (alpha >= beta) {
        remember_cutoff(depth, height, action);
        break;
      }
    }

    if (is_new_line && num_ends_by_past_ == old_num_ends_by_past) {
      table_.store({.key = key,
                    .score = best,
                    .num_turns = static_cast<std::uint32_t>(num_turns),
                    .action = static_cast<std::uint16_t>(best_action),
                    .iteration = static_cast<std::uint8_t>(iteration_),
                    .depth = static_cast<std::uint8_t>(depth),
                    .bound = best >= beta       ? TranspositionTable::kLower
                             : best > old_alpha ? TranspositionTable::kExact
                                                : TranspositionTable::kUpper});
    }
    return best;
  }

  // The same beyond the depth. A player may be content with the position as it is, unless in
  // mid-turn, in check, or where all that is legal is to capture; else only urgent steps are tried.
  int quiesce(int num_turns, int alpha, int beta, int height, int urgent_turns_left) {
    if (must_stop()) return 0;
    ++num_nodes_;
    const bool is_open_window = beta - alpha > 1;
    if (is_open_window) frame(height).line.clear();
    if (state_.is_over()) return score_of_end(num_turns);
    const bool is_turn_open = state_.is_turn_open();
    bool may_stand = !is_turn_open && !state_.is_check();
    if (!is_turn_open && (urgent_turns_left == 0 || is_late_)) return guess();
    int best = -kInfinity, num_actions = -1;
    if (may_stand && state_.captures_are_compulsory()) {
      num_actions = rate_actions(height, -1);
      const auto& urgencies = frame(height).urgencies;
      may_stand = std::find(urgencies.begin(), urgencies.begin() + num_actions, 0) !=
                  urgencies.begin() + num_actions;
    }
    if (may_stand) {
      best = guess();
      if (best >= beta) return best;
      alpha = std::max(alpha, best);
    }
    if (num_actions < 0) num_actions = rate_actions(height, -1);
    for (int i = 0; i < num_actions; ++i) {
      if (i > 0 && is_turn_open && is_late_) break;
      const auto [action, priority] = next_action(height, i, num_actions);
      if (may_stand && priority < kUrgent) break;
      const Step step = make(action);
      const auto look = [&](int low, int high) {
        return quiesce(num_turns + step.num_turns, low, high, height + 1,
                       urgent_turns_left - step.num_turns);
      };
      const int score = step.is_other_player ? -look(-beta, -alpha) : look(alpha, beta);
      state_.undo();
      if (is_stopped_) return best;
      if (score <= best) continue;
      best = score;
      if (score <= alpha) continue;
      alpha = score;
      if (is_open_window) keep_line(height, action, score < beta);
      if (alpha >= beta) break;
    }
    return best;
  }

  struct Step {
    bool is_other_player;
    int num_turns;  // 1 if it has completed its turn, else 0
  };
  Step make(Action action) {
    const int mover = state_.to_move();
    state_.apply(action);
    return {state_.to_move() != mover, state_.is_turn_open() ? 0 : 1};
  }

  int guess() const { return std::clamp(state_.evaluate(), -Minimax::kGuess, Minimax::kGuess); }

  int score_of_end(int num_turns) {
    const Outcome& outcome = state_.outcome();
    num_ends_by_past_ += ends_by_past(outcome.termination);
    const int reward = outcome.reward(state_.to_move());
    if (reward == 0) return state_.to_move() == root_player_ ? draw_score_ : -draw_score_;
    return reward * ((num_turns <= full_depth_ ? Minimax::kWin : Minimax::kProven) - num_turns);
  }

  static bool ends_by_past(Termination termination) {
    switch (termination) {
      case Termination::kRepetition:
      case Termination::kPerpetualCheck:
      case Termination::kPerpetualChase:
      case Termination::kQuietLimit:
      case Termination::kLengthLimit:
      case Termination::kMaxTurns: return true;
      default: return false;
    }
  }

  bool is_usable(const TranspositionTable::Entry& entry, int depth, int num_turns, int alpha,
                 int beta) const {
    if (entry.iteration != iteration_ || static_cast<int>(entry.num_turns) != num_turns ||
        entry.depth < depth) {
      return false;
    }
    switch (entry.bound) {
      case TranspositionTable::kLower: return entry.score >= beta;
      case TranspositionTable::kUpper: return entry.score <= alpha;
      default: return true;
    }
  }

  // The principal variation is `action` and what the next node found, if that is known exactly.
  void keep_line(int height, Action action, bool is_exact) {
    auto& line = frame(height).line;
    line.assign(1, action);
    if (!is_exact) return;
    const auto& rest = frame(height + 1).line;
    line.insert(line.end(), rest.begin(), rest.end());
  }

  // Lists the actions with their priorities: the best one of the table, urgent ones, killers (that
  // refuted a sister node), then what has refuted most so far. Returns how many there are.
  int rate_actions(int height, Action first) {
    Frame& here = frame(height);
    auto& order = here.order;
    if (height == 0 && iteration_ > 0) {
      const int size = static_cast<int>(root_actions_.size());
      for (int i = 0; i < size; ++i) {
        order[i] = static_cast<std::uint64_t>(size - i) << 16 | (0xffff - root_actions_[i]);
      }
      return size;
    }
    state_.legal_actions(here.actions);
    const int size = here.actions.size();
    state_.rate_urgencies(here.actions, here.urgencies.data());
    const auto* history = history_.data() + state_.to_move() * num_actions_;
    for (int i = 0; i < size; ++i) {
      const Action action = here.actions[i];
      std::uint64_t priority = history[action];
      if (action == first) {
        priority = kFirst;
      } else if (here.urgencies[i] > 0) {
        priority = kUrgent + (static_cast<std::uint64_t>(here.urgencies[i]) << 16) +
                   std::min<std::uint64_t>(priority, 0xffff);
      } else if (action == here.killers[0]) {
        priority = kKiller;
      } else if (action == here.killers[1]) {
        priority = kKiller - 1;
      }
      order[i] = priority << 16 | (0xffff - action);
    }
    return size;
  }

  struct Rated {
    Action action;
    std::uint64_t priority;
  };

  // The `i`-th best action. Most nodes need few: the first are picked, the rest sorted at once.
  Rated next_action(int height, int i, int size) {
    constexpr int kPicked = 4;
    auto& order = frame(height).order;
    const auto begin = order.begin() + i, end = order.begin() + size;
    if (i < kPicked) {
      std::iter_swap(begin, std::max_element(begin, end));
    } else if (i == kPicked) {
      std::sort(begin, end, std::greater<>());
    }
    return {0xffff - static_cast<Action>(*begin & 0xffff), *begin >> 16};
  }

  void remember_cutoff(int depth, int height, Action action) {
    auto& value = history_[state_.to_move() * num_actions_ + action];
    value = std::min<std::uint32_t>(value + depth * depth, kKiller - 2);
    auto& killers = frame(height).killers;
    if (killers[0] == action) return;
    killers[1] = killers[0];
    killers[0] = action;
  }

  bool must_stop() {
    if (num_nodes_ % kNodesPerClock == 0 && is_out_of_time_()) is_late_ = true;
    if (num_nodes_ >= limits_.nodes) is_late_ = true;
    if (iteration_ > 1 && is_late_) is_stopped_ = true;
    return is_stopped_;
  }

  S state_;
  Minimax::Limits limits_;
  IsOutOfTime is_out_of_time_;
  TranspositionTable table_;
  int root_player_;
  int draw_score_;  // for it
  int num_actions_;
  std::vector<std::uint32_t> history_;  // [2, num_actions]
  std::vector<Action> root_actions_;    // in the order to try
  std::deque<Frame> frames_;            // by height
  int iteration_ = 0;                   // its depth
  int full_depth_ = 0;                  // how many turns no line falls short of
  std::int64_t num_nodes_ = 0;
  std::int64_t num_ends_by_past_ = 0;
  bool is_late_ = false;
  bool is_stopped_ = false;
};

}  // namespace deskovky
