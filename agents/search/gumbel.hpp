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
  bool set_root(S state, Random random) {
    state_ = std::move(state);
    random_ = random;
    nodes_.clear();
    edges_.clear();
    path_.clear();
    num_simulations_ = 0;
    leaf_ = add_node(kNone);
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
    Node& leaf = nodes_[leaf_];
    const std::span<Edge> edges = edges_of(leaf);
    double most = -INFINITY, sum = 0.0;
    bool is_finite = std::isfinite(value);
    for (Edge& edge : edges) {
      edge.logit = logits[edge.action];
      is_finite = is_finite && std::isfinite(edge.logit);
      most = std::max<double>(most, edge.logit);
    }
    if (!is_finite) throw ConfigurationError("a prior logit or value is not a finite number");
    for (Edge& edge : edges) sum += edge.prior = std::exp(edge.logit - most);
    for (Edge& edge : edges) edge.prior = std::max(edge.prior / sum, DBL_MIN);
    leaf.value = value;
    if (leaf_ == kRoot) draw_gumbels(settings);
    back_up();
  }

  // The action that the search chose.
  Action best_action(const GumbelSettings& settings) const {
    const std::span<const Edge> edges = edges_of(nodes_[kRoot]);
    int most = 0;
    for (const Edge& edge : edges) most = std::max(most, edge.visits);
    return edges[best_with_visits(settings, most)].action;
  }

  // Writes the improved policy [A], the visits [A] (both zero at first), and returns its value.
  double write_policy(const GumbelSettings& settings, float* weights, std::int32_t* visits) const {
    const Node& root = nodes_[kRoot];
    std::vector<double> policy;
    const double mixed_value = improve(settings, root, policy);
    softmax(policy);
    double value = 0.0;
    const std::span<const Edge> edges = edges_of(root);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      weights[edges[i].action] = static_cast<float>(policy[i]);
      visits[edges[i].action] = edges[i].visits;
      value += policy[i] * (edges[i].visits ? edges[i].mean_value() : mixed_value);
    }
    return value;
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
    float logit = 0.0f;
    double prior = 0.0;  // softmax of the logits
    int child = kNone;
    int visits = 0;
    double value_sum = 0.0;  // for the player who takes the action

    double mean_value() const { return value_sum / visits; }
  };

  struct Node {
    int first_edge = 0;
    int num_edges = 0;  // 0: the game is over
    int to_move = 0;
    int visits = 0;
    double value = 0.0;      // by the network or the rules, for to_move, like all values
    double value_sum = 0.0;  // of all simulations through it, `value` included

    double mean_value() const { return value_sum / visits; }
  };

  std::span<Edge> edges_of(const Node& node) {
    return {edges_.data() + node.first_edge, static_cast<std::size_t>(node.num_edges)};
  }
  std::span<const Edge> edges_of(const Node& node) const {
    return {edges_.data() + node.first_edge, static_cast<std::size_t>(node.num_edges)};
  }

  // Adds a node for the current state, at the end of the edge of that index.
  int add_node(int parent_edge) {
    ActionList actions;
    state_.legal_actions(actions);
    Node node;
    node.first_edge = static_cast<int>(edges_.size());
    node.to_move = state_.to_move();
    if (state_.is_over()) {
      node.value = Outcome(state_.outcome()).reward(node.to_move);
    } else {
      node.num_edges = actions.size();
      for (const Action action : actions) edges_.push_back({.action = action});
    }
    const int index = static_cast<int>(nodes_.size());
    nodes_.push_back(node);
    if (parent_edge != kNone) edges_[parent_edge].child = index;
    return index;
  }

  // Walks the state down to a node that is new or over, along `path_`, and returns it.
  int descend(const GumbelSettings& settings) {
    path_.clear();
    int node = kRoot;
    do {
      const int chosen = node == kRoot ? choose_at_root(settings) : choose(settings, nodes_[node]);
      const int edge = nodes_[node].first_edge + chosen;
      path_.push_back({node, edge});
      state_.apply(edges_[edge].action);
      if (edges_[edge].child == kNone) return add_node(edge);
      node = edges_[edge].child;
    } while (nodes_[node].num_edges > 0);
    return node;
  }

  // Adds the value of the leaf to the nodes and edges of the path.
  void back_up() {
    Node& leaf = nodes_[leaf_];
    const double value = leaf.value;
    ++leaf.visits;
    leaf.value_sum += value;
    for (const auto& [node_index, edge_index] : path_) {
      Node& node = nodes_[node_index];
      Edge& edge = edges_[edge_index];
      const double own_value = node.to_move == leaf.to_move ? value : -value;
      ++node.visits;
      node.value_sum += own_value;
      ++edge.visits;
      edge.value_sum += own_value;
    }
  }

  // The mixed value of a node (appendix D of the paper), which completes q where nothing is known
  // yet, and by what sigma scales q.
  std::pair<double, double> complete(const GumbelSettings& settings, const Node& node) const {
    int num_visits = 0, most = 0;
    double prior_sum = 0.0, weighted_sum = 0.0;
    for (const Edge& edge : edges_of(node)) {
      if (!edge.visits) continue;
      num_visits += edge.visits;
      most = std::max(most, edge.visits);
      prior_sum += edge.prior;
      weighted_sum += edge.prior * edge.mean_value();
    }
    double mixed_value = node.value;
    if (num_visits) {
      mixed_value = (node.value + num_visits * weighted_sum / prior_sum) / (1 + num_visits);
    }
    return {mixed_value, (settings.options.c_visit + most) * settings.options.c_scale / 2.0};
  }

  // Writes logit + sigma(completed q) of each edge, up to a constant, and returns the mixed value.
  double improve(const GumbelSettings& settings, const Node& node,
                 std::vector<double>& scores) const {
    const std::span<const Edge> edges = edges_of(node);
    const auto [mixed_value, scale] = complete(settings, node);
    scores.resize(edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const double q = edges[i].visits ? edges[i].mean_value() : mixed_value;
      scores[i] = edges[i].logit + scale * q;
    }
    return mixed_value;
  }

  static void softmax(std::vector<double>& scores) {
    const double most = *std::max_element(scores.begin(), scores.end());
    double sum = 0.0;
    for (double& score : scores) sum += score = std::exp(score - most);
    for (double& score : scores) score /= sum;
  }

  // The edge of a node below the root whose visits lag most behind the improved policy.
  //
  // softmax(logits + sigma(q)) is the prior times exp(sigma(q)), up to a factor. Most edges have not
  // been visited and share one q: one exponential serves them all.
  int choose(const GumbelSettings& settings, const Node& node) {
    const std::span<const Edge> edges = edges_of(node);
    const auto [mixed_value, scale] = complete(settings, node);
    double most = -INFINITY;
    for (const Edge& edge : edges) {
      most = std::max(most, edge.visits ? edge.mean_value() : mixed_value);
    }
    const double unvisited = std::exp(scale * (mixed_value - most));
    double sum = 0.0;
    scores_.resize(edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Edge& edge = edges[i];
      const double factor = edge.visits ? std::exp(scale * (edge.mean_value() - most)) : unvisited;
      sum += scores_[i] = edge.prior * factor;
    }
    const double num_visits = node.visits;  // 1 + those of its edges
    int best = 0;
    double best_lag = -INFINITY;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const double lag = scores_[i] / sum - edges[i].visits / num_visits;
      if (lag > best_lag) {
        best = static_cast<int>(i);
        best_lag = lag;
      }
    }
    return best;
  }

  int choose_at_root(const GumbelSettings& settings) const {
    const int num_considered =
        std::min(settings.options.max_considered_actions, nodes_[kRoot].num_edges);
    return best_with_visits(settings, settings.sequences[num_considered][num_simulations_ - 1]);
  }

  // The root's edge of the highest Gumbel score among those with exactly so many visits.
  int best_with_visits(const GumbelSettings& settings, int visits) const {
    std::vector<double> scores;
    improve(settings, nodes_[kRoot], scores);
    const std::span<const Edge> edges = edges_of(nodes_[kRoot]);
    int best = kNone;
    for (int i = 0; i < static_cast<int>(edges.size()); ++i) {
      if (edges[i].visits != visits) continue;
      scores[i] += gumbels_[i];
      if (best == kNone || scores[i] > scores[best]) best = i;
    }
    return best;
  }

  void draw_gumbels(const GumbelSettings& settings) {
    gumbels_.assign(nodes_[kRoot].num_edges, 0.0);
    if (settings.options.gumbel_scale == 0.0) return;
    for (double& gumbel : gumbels_) {
      gumbel = settings.options.gumbel_scale * -std::log(-std::log(random_.uniform()));
    }
  }

  S state_;  // at the root, except during `descend`
  Random random_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<std::pair<int, int>> path_;  // node and edge of each step of this simulation
  std::vector<double> gumbels_;            // by edge of the root
  std::vector<double> scores_;             // kept so as not to allocate it anew at every node
  int leaf_ = kNone;
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
  virtual double write_policy(int i, float* weights, std::int32_t* visits) const = 0;
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
        if (!trees_[i].set_root(std::move(copy), random)) {
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
  double write_policy(int i, float* weights, std::int32_t* visits) const override {
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
