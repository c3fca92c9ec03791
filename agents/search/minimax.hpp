// Minimax: iterative deepening alpha-beta over any SearchState.
//
// Depth counts turns, not steps, and a score changes sign only where the player to move changes: a
// turn of several steps is searched whole, whoever moves after it. The score found at a depth is
// exactly that of a full-width search of the same depth, whatever the table and the move order do.
//
// What makes the table safe. A key does not tell how a position was reached, but repetition, quiet
// counts and length limits end games by their past. So a stored score is used only
//   - in the iteration that stored it and at the same depth, hence after as many turns;
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
#include <vector>

#include "core/random.hpp"
#include "search/search_state.hpp"

namespace deskovky {

struct Minimax {
  static constexpr int kMaxDepth = 63;
  static constexpr int kWin = 1'000'000;  // a win after n turns scores kWin - n
  static constexpr int kProven = kWin - 1000;

  struct Limits {
    int depth = kMaxDepth;
    std::int64_t nodes = std::numeric_limits<std::int64_t>::max();
    std::size_t table_bytes = 0;
  };

  struct Result {
    Action action = 0;
    int score = 0;  // for the player to move
    int depth = 0;  // the last one completed, in turns
    std::int64_t nodes = 0;
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
    std::int32_t score = 0;
    std::uint16_t action = 0;
    std::uint8_t iteration = 0;  // 0: an empty entry
    std::uint8_t depth : 6 = 0;
    Bound bound : 2 = kExact;
  };
  static_assert(sizeof(Entry) == 16 && Minimax::kMaxDepth < 64);

  explicit TranspositionTable(std::size_t most_bytes)
      : most_buckets_(std::bit_floor(most_bytes / sizeof(Bucket))),
        buckets_(std::min<std::size_t>(most_buckets_, 1024)) {}

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

  // Of a state that is not over. Depth 1 is always completed.
  Minimax::Result run() {
    Minimax::Result result;
    for (iteration_ = 1; iteration_ <= limits_.depth; ++iteration_) {
      const int score = search(iteration_, -kInfinity, kInfinity, 0, true);
      if (is_stopped_) break;
      const auto& line = frame(0).line;
      result.action = line[0];
      result.score = score;
      result.depth = iteration_;
      result.principal_variation = line;
      const auto best = std::find(root_actions_.begin(), root_actions_.end(), line[0]);
      std::rotate(root_actions_.begin(), best, best + 1);
      if (result.is_proven()) break;  // nearer ends would have been found earlier
    }
    result.nodes = num_nodes_;
    return result;
  }

 private:
  static constexpr int kInfinity = 2 * Minimax::kWin;
  static constexpr int kNodesPerClock = 32;

  // What a node on the line being searched works with.
  struct Frame {
    Frame() {}
    ActionList actions;
    std::array<std::uint64_t, 1024> order;  // priority << 16 | ~action
    std::array<Action, 2> killers = {-1, -1};
    std::vector<Action> line;  // the principal variation from here on
  };

  Frame& frame(int height) {
    while (static_cast<int>(frames_.size()) <= height) frames_.emplace_back();
    return frames_[height];
  }

  // Returns the score for the player to move, `depth` turns ahead; exact within (alpha, beta),
  // else a bound. `height`: steps since the root. `is_new_line`: no position since the root
  // repeats another.
  int search(int depth, int alpha, int beta, int height, bool is_new_line) {
    if (must_stop()) return 0;
    ++num_nodes_;
    const bool is_open_window = beta - alpha > 1;
    if (is_open_window) frame(height).line.clear();
    if (state_.is_over()) return score_of_end(depth);
    const bool is_turn_open = state_.is_turn_open();
    if (depth == 0 && !is_turn_open) {
      return std::clamp(state_.evaluate(), -Minimax::kProven, Minimax::kProven);
    }
    if (height > 0 && !is_turn_open && is_new_line) is_new_line = state_.occurrences() == 1;

    const std::uint64_t key = state_.search_key();
    Action first = -1;
    if (const auto* entry = table_.find(key)) {
      first = entry->action;
      if (is_new_line && !is_open_window && entry->iteration == iteration_ &&
          entry->depth == depth) {
        const bool is_enough = entry->bound == TranspositionTable::kExact ||
                               (entry->bound == TranspositionTable::kLower ? entry->score >= beta
                                                                           : entry->score <= alpha);
        if (is_enough) return entry->score;
      }
    }

    const int mover = state_.to_move();
    const int old_alpha = alpha;
    const std::int64_t old_num_ends_by_past = num_ends_by_past_;
    const int num_actions = order_actions(height, mover, first);
    int best = -kInfinity;
    Action best_action = -1;
    for (int i = 0; i < num_actions; ++i) {
      const Action action = ordered_action(height, i);
      state_.apply(action);
      const bool is_other_player = state_.to_move() != mover;
      const int depth_left = state_.is_turn_open() ? depth : depth - 1;
      const auto look = [&](int low, int high) {
        return is_other_player ? -search(depth_left, -high, -low, height + 1, is_new_line)
                               : search(depth_left, low, high, height + 1, is_new_line);
      };
      int score;
      if (i == 0) {
        score = look(alpha, beta);
      } else {  // is it better at all? Only then how much
        score = look(alpha, alpha + 1);
        if (alpha < score && score < beta) score = look(alpha, beta);
      }
      state_.undo();
      if (is_stopped_) return 0;
      if (score <= best) continue;
      best = score;
      best_action = action;
      if (score <= alpha) continue;
      alpha = score;
      if (is_open_window) {
        auto& line = frame(height).line;
        const auto& rest = frame(height + 1).line;
        line.assign(1, action);
        line.insert(line.end(), rest.begin(), rest.end());
      }
      if (alpha >= beta) {
        remember_cutoff(depth, height, mover, action);
        break;
      }
    }

    if (is_new_line && num_ends_by_past_ == old_num_ends_by_past) {
      table_.store({.key = key,
                    .score = best,
                    .action = static_cast<std::uint16_t>(best_action),
                    .iteration = static_cast<std::uint8_t>(iteration_),
                    .depth = static_cast<std::uint8_t>(depth),
                    .bound = best >= beta       ? TranspositionTable::kLower
                             : best > old_alpha ? TranspositionTable::kExact
                                                : TranspositionTable::kUpper});
    }
    return best;
  }

  int score_of_end(int depth) {
    const Outcome& outcome = state_.outcome();
    num_ends_by_past_ += ends_by_past(outcome.termination);
    const int num_turns = iteration_ - depth;  // completed since the root
    return outcome.reward(state_.to_move()) * (Minimax::kWin - num_turns);
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

  // The best action of the table, captures, killers (that refuted a sister node), then what has
  // refuted most so far.
  int order_actions(int height, int mover, Action first) {
    Frame& here = frame(height);
    auto& order = here.order;
    if (height == 0) {
      const int size = static_cast<int>(root_actions_.size());
      for (int i = 0; i < size; ++i) order[i] = 0xffff - root_actions_[i];
      return size;
    }
    state_.legal_actions(here.actions);
    const int size = here.actions.size();
    const bool is_worth_sorting = size > 1;
    for (int i = 0; i < size; ++i) {
      const Action action = here.actions[i];
      std::uint64_t priority = 0;
      if (is_worth_sorting) {
        priority = history_[mover * num_actions_ + action];
        if (action == first)
          priority = kFirst;
        else if (state_.is_capture(action))
          priority = kCapture;
        else if (action == here.killers[0])
          priority = kKiller;
        else if (action == here.killers[1])
          priority = kKiller - 1;
      }
      order[i] = priority << 16 | (0xffff - action);
    }
    std::sort(order.begin(), order.begin() + size, std::greater<>());
    return size;
  }

  Action ordered_action(int height, int i) {
    return 0xffff - static_cast<Action>(frame(height).order[i] & 0xffff);
  }

  void remember_cutoff(int depth, int height, int mover, Action action) {
    auto& value = history_[mover * num_actions_ + action];
    value = std::min<std::uint64_t>(value + depth * depth, kKiller - 2);
    auto& killers = frame(height).killers;
    if (killers[0] == action) return;
    killers[1] = killers[0];
    killers[0] = action;
  }

  bool must_stop() {
    if (num_nodes_ % kNodesPerClock == 0 && is_out_of_time_()) is_late_ = true;
    if (iteration_ > 1 && (is_late_ || num_nodes_ >= limits_.nodes)) is_stopped_ = true;
    return is_stopped_;
  }

  static constexpr std::uint64_t kKiller = 1ull << 40, kCapture = kKiller << 1,
                                 kFirst = kKiller << 2;

  S state_;
  Minimax::Limits limits_;
  IsOutOfTime is_out_of_time_;
  TranspositionTable table_;
  int num_actions_;
  std::vector<std::uint64_t> history_;  // [2, num_actions]
  std::vector<Action> root_actions_;    // in the order to try
  std::deque<Frame> frames_;            // by height
  int iteration_ = 0;                   // its depth
  std::int64_t num_nodes_ = 0;
  std::int64_t num_ends_by_past_ = 0;
  bool is_late_ = false;
  bool is_stopped_ = false;
};

}  // namespace deskovky
