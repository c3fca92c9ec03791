// Monte Carlo tree search with random rollouts: UCT (Kocsis and Szepesvari 2006) with proven results
// (MCTS-Solver, Winands et al. 2008), over any SearchState.
//
// Every result is kept as the reward of player 0, so that turns of several steps and passes need
// no care: a node looks at it from the side of whoever moves there.
#pragma once

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "search/search_state.hpp"

namespace deskovky {

// A position of the tree. Children lie side by side; those never visited come last.
struct MctsNode {
  static constexpr int kUnproven = 2;

  std::int32_t visits = 0;
  std::int32_t total = 0;  // the results of all visits, for player 0
  std::uint32_t first_child = 0;
  std::uint16_t num_children = 0;  // 0 until the second visit
  std::uint16_t num_visited_children = 0;
  std::uint16_t action = 0;  // that leads here
  std::int8_t to_move = 0;
  std::int8_t proven = kUnproven;  // or the result for player 0 under perfect play

  bool is_proven() const { return proven != kUnproven; }
  int sign() const { return to_move == 0 ? 1 : -1; }
  // The mean result, or the proven one, for player 0.
  double value() const {
    return is_proven() ? proven : visits ? static_cast<double>(total) / visits : 0.0;
  }
};
static_assert(sizeof(MctsNode) == 20);

template <SearchState S>
class MctsSearch {
 public:
  MctsSearch(const S& state, double exploration, std::uint64_t seed)
      : state_(state), exploration_(static_cast<float>(exploration)), random_(seed) {
    nodes_.emplace_back().to_move = static_cast<std::int8_t>(state.to_move());
  }

  // The root comes first.
  const std::vector<MctsNode>& nodes() const& { return nodes_; }
  std::vector<MctsNode> nodes() && { return std::move(nodes_); }
  bool is_finished() const { return nodes_[0].is_proven(); }

  // One simulation of a state that is not over: down the tree, a random game, and back.
  void simulate() {
    path_.assign(1, 0);
    int result = 0;
    for (;;) {
      const std::uint32_t child = select(path_.back());
      path_.push_back(child);
      MctsNode& node = nodes_[child];
      state_.apply(node.action);
      if (node.visits == 0) {
        node.to_move = static_cast<std::int8_t>(state_.to_move());
        if (state_.is_over()) {
          node.proven = static_cast<std::int8_t>(state_.outcome().reward(0));
        } else {
          result = rollout();
        }
      }
      if (node.is_proven()) result = node.proven;
      if (node.is_proven() || node.visits == 0) break;
    }
    for (const std::uint32_t index : path_) {
      ++nodes_[index].visits;
      nodes_[index].total += result;
    }
    for (std::size_t i = 1; i < path_.size(); ++i) state_.undo();
    prove();
  }

  // Index of the root's child to play: a proven win, else the most visited that is not lost.
  std::uint32_t best_child() const {
    const MctsNode& root = nodes_[0];
    const auto rank = [&](const MctsNode& child) {
      const int proven = child.is_proven() ? root.sign() * child.proven : 0;
      return std::tuple(proven == 1, proven != -1, child.visits, root.sign() * child.total);
    };
    std::uint32_t best = root.first_child;
    for (std::uint32_t i = best + 1; i < root.first_child + root.num_children; ++i) {
      if (rank(nodes_[i]) > rank(nodes_[best])) best = i;
    }
    return best;
  }

 private:
  // Returns the child to go to: each once, in random order, then the highest upper bound.
  std::uint32_t select(std::uint32_t index) {
    if (nodes_[index].num_children == 0) expand(index);
    MctsNode& node = nodes_[index];
    if (node.num_visited_children < node.num_children) {
      const int first = node.num_visited_children++;
      const int chosen = first + random_.below(node.num_children - first);
      MctsNode* const children = &nodes_[node.first_child];
      std::swap(children[first].action, children[chosen].action);
      return node.first_child + first;
    }
    const auto log_visits = static_cast<float>(std::log(static_cast<double>(node.visits)));
    const int sign = node.sign();
    float best_bound = -std::numeric_limits<float>::infinity();
    std::uint32_t best = 0;
    for (std::uint32_t i = node.first_child; i < node.first_child + node.num_children; ++i) {
      const MctsNode& child = nodes_[i];
      // A proven child is lost (never play it) or drawn: a proven win has proven this node too.
      if (child.proven == -sign) continue;
      const auto visits = static_cast<float>(child.visits);
      const float mean = child.is_proven() ? 0.0f : static_cast<float>(sign * child.total) / visits;
      const float width = exploration_ * std::sqrt(log_visits / visits);
      const float bound = mean + width;
      if (bound > best_bound) {
        best_bound = bound;
        best = i;
      }
    }
    return best;
  }

  void expand(std::uint32_t index) {
    state_.legal_actions(actions_);
    const auto first = static_cast<std::uint32_t>(nodes_.size());
    nodes_.resize(first + actions_.size());
    for (int i = 0; i < actions_.size(); ++i) {
      nodes_[first + i].action = static_cast<std::uint16_t>(actions_[i]);
    }
    nodes_[index].first_child = first;
    nodes_[index].num_children = static_cast<std::uint16_t>(actions_.size());
  }

  // Plays uniformly random actions to the end of the game; returns the result for player 0.
  int rollout() {
    int num_steps = 0;
    while (!state_.is_over()) {
      state_.legal_actions(actions_);
      state_.apply(actions_[random_.below(actions_.size())]);
      ++num_steps;
    }
    const int result = state_.outcome().reward(0);
    while (num_steps-- > 0) state_.undo();
    return result;
  }

  // Carries a proven end up the path: a node is won by one won child, and decided once all of its
  // children are.
  void prove() {
    for (std::size_t i = path_.size() - 1; i > 0 && nodes_[path_[i]].is_proven(); --i) {
      MctsNode& parent = nodes_[path_[i - 1]];
      const int sign = parent.sign();
      int best = sign * nodes_[path_[i]].proven;
      for (int k = 0; k < parent.num_children && best < 1; ++k) {
        const MctsNode& child = nodes_[parent.first_child + k];
        if (!child.is_proven()) return;
        best = std::max(best, sign * child.proven);
      }
      parent.proven = static_cast<std::int8_t>(sign * best);
    }
  }

  S state_;
  float exploration_;
  Random random_;
  std::vector<MctsNode> nodes_;
  std::vector<std::uint32_t> path_;  // from the root, of the current simulation
  ActionList actions_;
};

}  // namespace deskovky
