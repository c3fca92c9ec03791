// Gumbel AlphaZero search (Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by
// planning with Gumbel", ICLR 2022) for many games at once, so that a network sees their leaves as
// one batch.
//
// At the root, Gumbel noise picks some actions to consider without replacement, and sequential
// halving shares the simulations out among them. Below it, the action is taken whose visits lag
// most behind the improved policy
//
//   softmax(logits + sigma(q)),   sigma(q) = (c_visit + most visits) * c_scale * (q + 1) / 2,
//
// where an action not visited yet has the mixed value of its node for q. Values lie in [-1, 1] and
// are kept for the player to move; a sign flips only between nodes of different players, not with
// every step: a turn can have several.
//
// Nodes hold no positions: each simulation walks the state of the root down by `apply` and back by
// `undo`.
#pragma once

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/random.hpp"
#include "core/thread_pool.hpp"
#include "search/search_state.hpp"

namespace deskovky {

struct GumbelOptions {
  int num_simulations = 64;
  int max_considered_actions = 16;  // at the root
  double gumbel_scale = 1.0;        // 0: no noise, the best action by search alone
  double c_visit = 50.0;
  double c_scale = 1.0;
  double contempt = 0.0;  // a drawn game is worth -contempt to the player at the root
  int num_threads = 1;
};

// How many visits an action must have to be searched by each simulation at the root: sequential
// halving among `num_considered` actions, one simulation at a time.
inline std::vector<int> considered_visits(int num_considered, int num_simulations) {
  std::vector<int> sequence;
  if (num_considered <= 1) {
    sequence.resize(num_simulations);
    std::iota(sequence.begin(), sequence.end(), 0);
    return sequence;
  }
  const int num_rounds = std::bit_width(static_cast<unsigned>(num_considered - 1));  // ceil(log2)
  std::vector<int> visits(num_considered);
  while (static_cast<int>(sequence.size()) < num_simulations) {
    const int num_extra = std::max(1, num_simulations / (num_rounds * num_considered));
    for (int extra = 0; extra < num_extra; ++extra) {
      for (int i = 0; i < num_considered; ++i) sequence.push_back(visits[i]++);
    }
    num_considered = std::max(2, num_considered / 2);
  }
  sequence.resize(num_simulations);
  return sequence;
}

// What all trees of a search share.
struct GumbelSettings {
  explicit GumbelSettings(const GumbelOptions& options) : options(options) {
    for (int k = 0; k <= options.max_considered_actions; ++k) {
      sequences.push_back(considered_visits(k, options.num_simulations));
    }
  }

  GumbelOptions options;
  std::vector<std::vector<int>> sequences;  // by the number of considered actions
};

// One node as `GumbelSearch::tree` shows it: parent (-1: none), action from it, player to move,
// number of visits, logit of the action, value by the network or the rules, mean value of its
// simulations. The last two are for the player to move.
using GumbelTreeNode = std::tuple<int, int, int, int, double, double, double>;

// The tree of one game.
template <SearchState S>
class GumbelTree {
 public:
  explicit GumbelTree(S state) : state_(std::move(state)) {}

  const S& state() const { return state_; }

  // Starts a search from `state`. False if it has no legal action.
  bool set_root(const GumbelSettings& settings, S state, Random random) {
    draw_value_ = -settings.options.contempt;
    state_ = std::move(state);
    random_ = random;
    nodes_.clear();
    edges_.clear();
    path_.clear();
    num_simulations_ = 0;
    leaf_ = add_node();
    return nodes_[kRoot].num_edges > 0;
  }

  // Simulates until a leaf must be evaluated, writes its observation and returns true; or returns
  // false once all simulations are done. Games that end in the tree need no evaluation.
  bool advance(const GumbelSettings& settings, float* observation) {
    if (nodes_[kRoot].visits == 0) {
      state_.write_observation(observation);
      return true;
    }
    while (num_simulations_ < settings.options.num_simulations) {
      ++num_simulations_;
      leaf_ = descend(settings);
      const bool is_over = nodes_[leaf_].num_edges == 0;
      if (!is_over) state_.write_observation(observation);
      for (std::size_t step = 0; step < path_.size(); ++step) state_.undo();
      if (!is_over) return true;
      back_up();
    }
    return false;
  }

  // Gives the leaf of the last `advance` its logits, [A], and its value for its player to move.
  void expand(const GumbelSettings& settings, const float* logits, float value) {
    bool is_finite = std::isfinite(value);
    edges_.resize(edges_.size() + leaf_actions_.size());
    Edge* edge = &edges_[nodes_[leaf_].first_edge];
    for (const Action action : leaf_actions_) {
      edge->action = action;
      edge->logit = logits[action];
      is_finite = is_finite && std::isfinite(edge->logit);
      ++edge;
    }
    if (!is_finite) throw ConfigurationError("a prior logit or value is not a finite number");
    nodes_[leaf_].value = value;
    if (leaf_ == kRoot) consider(settings);
    back_up();
  }

  // The action that the search chose.
  Action best_action(const GumbelSettings& settings) const {
    int most = 0;
    for (const Edge& edge : edges_of(nodes_[kRoot])) most = std::max(most, visits(edge));
    return edges_[best_with_visits(settings, most)].action;
  }

  // Writes the improved policy [A], the visits [A] (both zero at first), and returns its value.
  double write_policy(const GumbelSettings& settings, float* weights, std::int32_t* visits) {
    const Node& root = nodes_[kRoot];
    const std::span<const Edge> edges = edges_of(root);
    const auto [mixed_value, scale] = complete(settings, root);
    std::vector<double> q(edges.size(), mixed_value), policy(edges.size());
    for (const Visited& visited : visited_) {
      q[visited.edge] = visited.q;
      visits[edges[visited.edge].action] = visited.visits;
    }
    for (std::size_t i = 0; i < edges.size(); ++i) policy[i] = edges[i].logit + scale * q[i];
    softmax(policy);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      weights[edges[i].action] = static_cast<float>(policy[i]);
    }
    return std::inner_product(policy.begin(), policy.end(), q.begin(), 0.0);
  }

  std::vector<GumbelTreeNode> nodes() const {
    std::vector<GumbelTreeNode> result(nodes_.size());
    for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
      const Node& node = nodes_[i];
      if (i == kRoot) {
        result[i] = {kNone, kNone, node.to_move, node.visits, 0.0, node.value, node.mean_value()};
      }
      for (const Edge& edge : edges_of(node)) {
        if (edge.child == kNone) continue;
        const Node& child = nodes_[edge.child];
        result[edge.child] = {i,          edge.action, child.to_move,     child.visits,
                              edge.logit, child.value, child.mean_value()};
      }
    }
    return result;
  }

 private:
  static constexpr int kRoot = 0, kNone = -1;

  struct Edge {
    Action action;
    float logit;
    float weight = 0.0f;  // exp(logit - highest one of the node), or FLT_MIN; 0: not needed yet
    int child = kNone;    // none: not visited
  };

  struct Node {
    int first_edge = 0;
    int num_edges = 0;  // 0: the game is over
    int to_move = 0;
    int visits = 0;
    float value = 0.0f;      // by the network or the rules, for to_move, like all values
    double value_sum = 0.0;  // of all simulations through it, `value` included

    double mean_value() const { return value_sum / visits; }
  };

  // An edge with a child, as the node's player to move sees it.
  struct Visited {
    int edge;
    int visits;
    double weight;
    double q;
  };

  std::span<Edge> edges_of(const Node& node) {
    return {edges_.data() + node.first_edge, static_cast<std::size_t>(node.num_edges)};
  }
  std::span<const Edge> edges_of(const Node& node) const {
    return {edges_.data() + node.first_edge, static_cast<std::size_t>(node.num_edges)};
  }

  int visits(const Edge& edge) const { return edge.child == kNone ? 0 : nodes_[edge.child].visits; }

  // The mean value of an edge with a child for the player to move at `node`.
  double q(const Node& node, const Edge& edge) const {
    const Node& child = nodes_[edge.child];
    return child.to_move == node.to_move ? child.mean_value() : -child.mean_value();
  }

  // Adds a node for the current state; it gets its edges by `expand`.
  int add_node() {
    state_.legal_actions(leaf_actions_);
    Node node;
    node.first_edge = static_cast<int>(edges_.size());
    node.num_edges = leaf_actions_.size();
    node.to_move = state_.to_move();
    if (leaf_actions_.empty()) {
      const int reward = Outcome(state_.outcome()).reward(node.to_move);
      const bool is_root_player = nodes_.empty() || node.to_move == nodes_[kRoot].to_move;
      node.value = static_cast<float>(reward           ? reward
                                      : is_root_player ? draw_value_
                                                       : -draw_value_);
    }
    nodes_.push_back(node);
    return static_cast<int>(nodes_.size()) - 1;
  }

  // Walks the state down to a node that is new or over, along `path_`, and returns it.
  int descend(const GumbelSettings& settings) {
    path_.clear();
    int node = kRoot;
    do {
      path_.push_back(node);
      const int edge = node == kRoot ? choose_at_root(settings) : choose(settings, nodes_[node]);
      state_.apply(edges_[edge].action);
      if (edges_[edge].child == kNone) return edges_[edge].child = add_node();
      node = edges_[edge].child;
    } while (nodes_[node].num_edges > 0);
    return node;
  }

  // Adds the value of the leaf to its own and to the nodes of the path.
  void back_up() {
    Node& leaf = nodes_[leaf_];
    ++leaf.visits;
    leaf.value_sum += leaf.value;
    for (const int index : path_) {
      Node& node = nodes_[index];
      ++node.visits;
      node.value_sum += node.to_move == leaf.to_move ? leaf.value : -leaf.value;
    }
  }

  // Fills `visited_` and returns the mixed value of a node (appendix D of the paper), which
  // completes q where nothing is known yet, and by what sigma scales q.
  std::pair<double, double> complete(const GumbelSettings& settings, const Node& node) {
    const std::span<Edge> edges = edges_of(node);
    if (edges[0].weight == 0.0f) weigh(edges);
    visited_.clear();
    int num_visits = 0, most = 0;
    double weight_sum = 0.0, weighted_sum = 0.0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (edges[i].child == kNone) continue;
      const Visited visited = {static_cast<int>(i), visits(edges[i]), edges[i].weight,
                               q(node, edges[i])};
      visited_.push_back(visited);
      num_visits += visited.visits;
      most = std::max(most, visited.visits);
      weight_sum += visited.weight;
      weighted_sum += visited.weight * visited.q;
    }
    double mixed_value = node.value;
    if (num_visits) {
      mixed_value = (node.value + num_visits * weighted_sum / weight_sum) / (1 + num_visits);
    }
    return {mixed_value, scale(settings, most)};
  }

  static double scale(const GumbelSettings& settings, int most_visits) {
    return (settings.options.c_visit + most_visits) * settings.options.c_scale / 2.0;
  }

  static void weigh(std::span<Edge> edges) {
    float most = -INFINITY;
    for (const Edge& edge : edges) most = std::max(most, edge.logit);
    for (Edge& edge : edges) edge.weight = std::max(std::exp(edge.logit - most), FLT_MIN);
  }

  static void softmax(std::vector<double>& scores) {
    const double most = *std::max_element(scores.begin(), scores.end());
    double sum = 0.0;
    for (double& score : scores) sum += score = std::exp(score - most);
    for (double& score : scores) score /= sum;
  }

  // The edge of a node below the root whose visits lag most behind the improved policy.
  //
  // softmax(logits + sigma(q)) is the weight times exp(sigma(q)), up to a factor. All edges that
  // have not been visited share one q, so that the one of the highest weight stands for them.
  int choose(const GumbelSettings& settings, const Node& node) {
    const auto [mixed_value, scale] = complete(settings, node);
    const std::span<const Edge> edges = edges_of(node);
    int best = kNone;
    double unvisited_weight = 0.0;
    for (int i = 0; i < node.num_edges; ++i) {
      if (edges[i].child != kNone) continue;
      unvisited_weight += edges[i].weight;
      if (best == kNone || edges[i].weight > edges[best].weight) best = i;
    }
    double most = best == kNone ? -INFINITY : mixed_value;
    for (const Visited& visited : visited_) most = std::max(most, visited.q);
    double sum = 0.0, best_lag = -INFINITY;
    for (Visited& visited : visited_) {
      sum += visited.weight *= std::exp(scale * (visited.q - most));
    }
    if (best != kNone) {
      const double factor = std::exp(scale * (mixed_value - most));
      sum += unvisited_weight * factor;
      best_lag = edges[best].weight * factor / sum;
    }
    const double num_visits = node.visits;  // 1 + those of its edges
    for (const Visited& visited : visited_) {
      const double lag = visited.weight / sum - visited.visits / num_visits;
      if (lag > best_lag) {
        best = visited.edge;
        best_lag = lag;
      }
    }
    return node.first_edge + best;
  }

  int choose_at_root(const GumbelSettings& settings) const {
    return best_with_visits(settings, settings.sequences[considered_.size()][num_simulations_ - 1]);
  }

  // The considered edge of the highest Gumbel + logit + sigma(q) among those with exactly so many
  // visits.
  int best_with_visits(const GumbelSettings& settings, int num_visits) const {
    const Node& root = nodes_[kRoot];
    int most = 0;
    for (const auto& [score, edge] : considered_) most = std::max(most, visits(edges_[edge]));
    const double scale = this->scale(settings, most);
    int best = kNone;
    double best_score = -INFINITY;
    for (const auto& [score, edge] : considered_) {
      if (visits(edges_[edge]) != num_visits) continue;
      if (num_visits == 0) return edge;
      const double improved = score + scale * q(root, edges_[edge]);
      if (best == kNone || improved > best_score) {
        best = edge;
        best_score = improved;
      }
    }
    return best;
  }

  // Picks the edges of the root to consider: those of the highest Gumbel + logit, highest first.
  void consider(const GumbelSettings& settings) {
    const double noise = settings.options.gumbel_scale;
    considered_.clear();
    for (int i = 0; i < nodes_[kRoot].num_edges; ++i) {
      const double gumbel = noise ? noise * -std::log(-std::log(random_.uniform())) : 0.0;
      considered_.push_back({edges_[i].logit + gumbel, i});
    }
    const auto end =
        considered_.begin() +
        std::min<std::ptrdiff_t>(considered_.size(), settings.options.max_considered_actions);
    std::partial_sort(considered_.begin(), end, considered_.end(),
                      [](const auto& a, const auto& b) {
                        return a.first != b.first ? a.first > b.first : a.second < b.second;
                      });
    considered_.erase(end, considered_.end());
  }

  S state_;  // at the root, except during `descend`
  Random random_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<std::pair<double, int>> considered_;  // Gumbel + logit and edge of the root
  std::vector<Visited> visited_;                    // of the node at hand
  std::vector<int> path_;                           // nodes of this simulation, its leaf left out
  int leaf_ = kNone;
  ActionList leaf_actions_;
  double draw_value_ = 0.0;  // for the player to move at the root
  int num_simulations_ = 0;  // done or under way; the evaluation of the root is not one
};

// The trees of a batch of games, whatever their kind.
class AnyGumbelTrees {
 public:
  virtual ~AnyGumbelTrees() = default;
  // Makes room for the roots of a new search; the memory of former trees is used again.
  virtual void set_size(int size) = 0;
  // Makes a copy of `state` a root. The caller holds the interpreter lock.
  virtual void set_root(int i, nanobind::handle state, Random random) = 0;
  // `observations` has a row for each game. Returns the games that filled theirs.
  virtual std::vector<int> advance(float* observations) = 0;
  // Row i of `logits` and `values` belongs to game leaves[i].
  virtual void expand(std::span<const int> leaves, const float* logits, const float* values) = 0;
  virtual Action best_action(int i) const = 0;
  virtual double write_policy(int i, float* weights, std::int32_t* visits) = 0;
  virtual std::vector<GumbelTreeNode> nodes(int i) const = 0;
};

template <SearchState S>
class GumbelTrees final : public AnyGumbelTrees {
 public:
  GumbelTrees(const GumbelSettings& settings, ThreadPool& pool)
      : settings_(settings), pool_(pool) {}

  void set_size(int size) override {
    size_ = size;
    is_leaf_.resize(size);
  }

  void set_root(int i, nanobind::handle state, Random random) override {
    visit_search_state(state, [&]<SearchState T>(T copy) {
      if constexpr (std::same_as<S, T>) {
        if (i == static_cast<int>(trees_.size())) trees_.emplace_back(copy);
        if (!trees_[i].set_root(settings_, std::move(copy), random)) {
          throw ConfigurationError("state " + std::to_string(i) +
                                   ": the game is over, there is nothing to search");
        }
      }
    });
  }

  std::vector<int> advance(float* observations) override {
    const std::size_t row_size = trees_[0].state().observation_size();
    pool_.run(size_, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        is_leaf_[i] = trees_[i].advance(settings_, observations + i * row_size);
      }
    });
    std::vector<int> leaves;
    for (int i = 0; i < size_; ++i) {
      if (is_leaf_[i]) leaves.push_back(i);
    }
    return leaves;
  }

  void expand(std::span<const int> leaves, const float* logits, const float* values) override {
    const std::size_t row_size = trees_[0].state().num_actions();
    pool_.run(static_cast<int>(leaves.size()), [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        trees_[leaves[i]].expand(settings_, logits + i * row_size, values[i]);
      }
    });
  }

  Action best_action(int i) const override { return trees_[i].best_action(settings_); }
  double write_policy(int i, float* weights, std::int32_t* visits) override {
    return trees_[i].write_policy(settings_, weights, visits);
  }
  std::vector<GumbelTreeNode> nodes(int i) const override { return trees_[i].nodes(); }

 private:
  const GumbelSettings& settings_;
  ThreadPool& pool_;
  int size_ = 0;
  std::vector<GumbelTree<S>> trees_;
  std::vector<char> is_leaf_;  // by game; not bool, whose neighbours threads must not share
};

}  // namespace deskovky
