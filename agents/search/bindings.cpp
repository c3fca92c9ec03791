// Python bindings of minimax and Monte Carlo tree search. The searches run without the interpreter
// lock; one that takes long looks for Ctrl-C now and then.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>

#include "core/interrupt.hpp"
#include "search/mcts.hpp"
#include "search/minimax.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace deskovky;

namespace {

using Clock = std::chrono::steady_clock;

template <class T>
using Array1 = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Array1<T> new_array(const std::vector<T>& values) {
  auto* data = new T[values.size()];
  std::copy(values.begin(), values.end(), data);
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Array1<T>(data, {values.size()}, owner);
}

template <class Number>
void check_range(const char* name, Number value, Number least, Number most) {
  if (least <= value && value <= most) return;  // false for a NaN
  throw ConfigurationError(std::string(name) + " = " + nb::str(nb::cast(value)).c_str() +
                           ": expected " + nb::str(nb::cast(least)).c_str() + " to " +
                           nb::str(nb::cast(most)).c_str());
}

template <SearchState S>
void check_ongoing(const S& state) {
  if (state.is_over()) throw IllegalActionError("no action to choose: the game is over");
}

void check_minimax_options(std::optional<long long> depth, std::optional<long long> nodes,
                           std::optional<double> time_ms, long long table_mb) {
  if (!depth && !nodes && !time_ms) {
    throw ConfigurationError("minimax needs a limit: depth, nodes or time_ms");
  }
  if (depth) check_range<long long>("depth", *depth, 1, Minimax::kMaxDepth);
  if (nodes) check_range<long long>("nodes", *nodes, 1, 1'000'000'000'000);
  if (time_ms) check_range<double>("time_ms", *time_ms, 0.0, 1e9);
  check_range<long long>("table_mb", table_mb, 0, 65536);
}

// Of the evaluation, one for each term.
template <SearchState S>
void set_weights(S& state, const std::vector<int>& weights) {
  constexpr int kMost = 10000;
  const auto terms = state.terms();
  if (weights.size() != terms.size()) {
    throw ConfigurationError("weights: expected " + std::to_string(terms.size()) + ", one a term");
  }
  for (std::size_t i = 0; i < terms.size(); ++i) {
    check_range<long long>(std::string(terms[i].name).c_str(), weights[i], -kMost, kMost);
    state.weights()[i] = weights[i];
  }
}

Minimax::Result minimax(nb::handle state, std::optional<long long> depth,
                        std::optional<long long> nodes, std::optional<double> time_ms,
                        std::uint64_t seed, long long table_mb,
                        const std::optional<std::vector<int>>& weights) {
  check_minimax_options(depth, nodes, time_ms, table_mb);
  Minimax::Limits limits;
  if (depth) limits.depth = static_cast<int>(*depth);
  if (nodes) limits.nodes = *nodes;
  limits.table_bytes = static_cast<std::size_t>(table_mb) << 20;
  const auto start = Clock::now();
  Interrupt interrupt;
  const auto is_out_of_time = [&] {
    const auto now = Clock::now();
    interrupt.check(now);
    return time_ms && std::chrono::duration<double, std::milli>(now - start).count() >= *time_ms;
  };
  Minimax::Result result;
  visit_search_state(state, [&]<SearchState S>(S search_state) {
    check_ongoing(search_state);
    if (weights) set_weights(search_state, *weights);
    const nb::gil_scoped_release release;
    result = MinimaxSearch(search_state, limits, seed, is_out_of_time).run();
  });
  return result;
}

struct MctsResult {
  std::vector<MctsNode> nodes;
  std::uint32_t best_child = 0;
  int num_actions = 0;

  const MctsNode& root() const { return nodes[0]; }

  // One value for each node.
  template <class Get>
  auto column(Get&& get) const {
    std::vector<decltype(get(root()))> values;
    values.reserve(nodes.size());
    for (const MctsNode& node : nodes) values.push_back(get(node));
    return new_array(values);
  }
};

void check_mcts_options(long long simulations, double exploration) {
  check_range<long long>("simulations", simulations, 1, 100'000'000);
  check_range<double>("exploration", exploration, 0.0, 1e6);
}

MctsResult mcts(nb::handle state, long long simulations, double exploration, std::uint64_t seed) {
  check_mcts_options(simulations, exploration);
  MctsResult result;
  visit_search_state(state, [&]<SearchState S>(const S& search_state) {
    check_ongoing(search_state);
    Interrupt interrupt;
    const nb::gil_scoped_release release;
    MctsSearch search(search_state, exploration, seed);
    for (long long i = 0; i < simulations && !search.is_finished(); ++i) {
      if (i % 256 == 0) interrupt.check(Clock::now());
      search.simulate();
    }
    result.best_child = search.best_child();
    result.num_actions = search_state.num_actions();
    result.nodes = std::move(search).nodes();
  });
  return result;
}

Array1<std::int32_t> greedy_actions(nb::handle state) {
  std::vector<std::int32_t> wins, captures, others;
  visit_search_state(state, [&]<SearchState S>(S search_state) {
    check_ongoing(search_state);
    const int mover = search_state.to_move();
    ActionList actions;
    search_state.legal_actions(actions);
    for (const Action action : actions) {
      const bool is_capture = search_state.is_capture(action);
      search_state.apply(action);
      const bool is_win = search_state.outcome().winner == mover;
      search_state.undo();
      (is_win ? wins : is_capture ? captures : others).push_back(action);
    }
  });
  return new_array(!wins.empty() ? wins : !captures.empty() ? captures : others);
}

int evaluate(nb::handle state) {
  int score = 0;
  visit_search_state(state, [&](const auto& search_state) { score = search_state.evaluate(); });
  return score;
}

int quiescence(nb::handle state) {
  int score = 0;
  visit_search_state(state, [&](const auto& search_state) {
    check_ongoing(search_state);
    score = MinimaxSearch(search_state, {.depth = 1}, 0, [] { return false; }).quiescence();
  });
  return score;
}

nb::dict evaluation_weights(nb::handle state) {
  nb::dict weights;
  visit_search_state(state, [&](const auto& search_state) {
    for (const Term& term : search_state.terms()) {
      weights[nb::str(term.name.data(), term.name.size())] = term.weight;
    }
  });
  return weights;
}

Array1<std::int32_t> evaluation_features(nb::handle state) {
  std::vector<std::int32_t> features;
  visit_search_state(state, [&](const auto& search_state) {
    const auto counts = search_state.features();
    features.assign(counts.begin(), counts.end());
  });
  return new_array(features);
}

void register_minimax(nb::module_& module) {
  nb::class_<Minimax::Result>(module, "MinimaxResult", "What a minimax search found.")
      .def_ro("action", &Minimax::Result::action, "The best action.")
      .def_ro("score", &Minimax::Result::score,
              "For the player to move, in hundredths of the weakest piece; a win that ends the "
              "game after n turns is 1,000,000 - n, a loss -1,000,000 + n.")
      .def_prop_ro(
          "value",
          [](const Minimax::Result& result) {
            if (result.is_proven()) return result.score > 0 ? 1.0 : -1.0;
            return result.score / (std::abs(result.score) + 1000.0);
          },
          "For the player to move, in [-1, 1]: +1 or -1 if proven, else the score squashed.")
      .def_prop_ro(
          "turns_to_end",
          [](const Minimax::Result& result) -> std::optional<int> {
            if (!result.is_proven()) return std::nullopt;
            return result.num_turns_to_end();
          },
          "After how many turns a proven win or loss ends the game; None if nothing is proven.")
      .def_ro("depth", &Minimax::Result::depth,
              "How many turns ahead was searched. Less than asked for once a win or loss is "
              "proven, which no deeper search changes.")
      .def_ro("nodes", &Minimax::Result::nodes,
              "How many positions were visited, those of quiescence included.")
      .def_ro("table_bytes", &Minimax::Result::table_bytes,
              "The size of the transposition table in the end.")
      .def_ro("principal_variation", &Minimax::Result::principal_variation,
              "The best play of both, as actions, `action` first.");

  module.def("minimax", &minimax, "state"_a, nb::kw_only(), "depth"_a = nb::none(),
             "nodes"_a = nb::none(), "time_ms"_a = nb::none(), "seed"_a = 0, "table_mb"_a = 16,
             "weights"_a = nb::none(),
             nb::sig("def minimax(state: deskovky.envs.protocol.State, *, depth: int | None = None,"
                     " nodes: int | None = None, time_ms: float | None = None, seed: int = 0,"
                     " table_mb: int = 16, weights: collections.abc.Sequence[int] | None = None)"
                     " -> MinimaxResult"),
             "Search a state by iterative deepening alpha-beta, until the first limit.\n\n"
             "`depth` is in turns; without it late quiet actions are searched less deep and a draw "
             "scores -30. The first turn is always searched. `seed` decides between equal actions. "
             "`table_mb` bounds the transposition table in MiB. `weights`: those of "
             "`evaluation_weights`, in that order, or others. Raises IllegalActionError if the "
             "game is over, ConfigurationError for a "
             "limit out of range or none and for weights that do not fit.");
  module.def("check_minimax_options", &check_minimax_options, nb::kw_only(), "depth"_a.none(),
             "nodes"_a.none(), "time_ms"_a.none(), "table_mb"_a,
             "Raise ConfigurationError if `minimax` would.");
}

void register_mcts(nb::module_& module) {
  nb::class_<MctsResult>(module, "MctsResult", "What a Monte Carlo tree search found: its tree.")
      .def_prop_ro(
          "action",
          [](const MctsResult& result) -> int { return result.nodes[result.best_child].action; },
          "The best action: a proven win, else the most visited that is not proven lost.")
      .def_prop_ro(
          "value",
          [](const MctsResult& result) {
            return result.root().sign() * result.root().value() + 0.0;  // no negative zero
          },
          "The mean result for the player to move, in [-1, 1]; the exact one if proven.")
      .def_prop_ro(
          "is_proven", [](const MctsResult& result) { return result.root().is_proven(); },
          "True if `value` is the result under perfect play; the search stopped there.")
      .def_prop_ro(
          "simulations", [](const MctsResult& result) { return result.root().visits; },
          "How many were made.")
      .def_prop_ro(
          "visit_counts",
          [](const MctsResult& result) {
            std::vector<std::int32_t> counts(result.num_actions);
            for (int i = 0; i < result.root().num_children; ++i) {
              const MctsNode& child = result.nodes[result.root().first_child + i];
              counts[child.action] = child.visits;
            }
            return new_array(counts);
          },
          nb::rv_policy::move, "[num_actions] int32.")
      .def_prop_ro(
          "node_parents",
          [](const MctsResult& result) {
            std::vector<std::int32_t> parents(result.nodes.size(), -1);
            for (std::size_t i = 0; i < result.nodes.size(); ++i) {
              const MctsNode& node = result.nodes[i];
              std::fill_n(parents.begin() + node.first_child, node.num_children, i);
            }
            return new_array(parents);
          },
          nb::rv_policy::move,
          "[nodes] int32: the index of each node's parent. The root is node 0, its parent -1.")
      .def_prop_ro(
          "node_actions",
          [](const MctsResult& result) {
            return result.column([](const MctsNode& node) -> std::int32_t { return node.action; });
          },
          nb::rv_policy::move, "[nodes] int32: the action that leads to the node; 0 at the root.")
      .def_prop_ro(
          "node_visits",
          [](const MctsResult& result) {
            return result.column([](const MctsNode& node) { return node.visits; });
          },
          nb::rv_policy::move, "[nodes] int32. Children never visited are nodes too.")
      .def_prop_ro(
          "node_values",
          [](const MctsResult& result) {
            return result.column([](const MctsNode& node) { return node.value(); });
          },
          nb::rv_policy::move,
          "[nodes] float64: the mean or proven result for player 0; 0 if never visited.")
      .def_prop_ro(
          "node_is_proven",
          [](const MctsResult& result) {
            // Not std::vector<bool>, which is no array.
            const std::size_t size = result.nodes.size();
            auto* data = new bool[size];
            for (std::size_t i = 0; i < size; ++i) data[i] = result.nodes[i].is_proven();
            const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
            return Array1<bool>(data, {size}, owner);
          },
          nb::rv_policy::move, "[nodes] bool.");

  module.def(
      "mcts", &mcts, "state"_a, nb::kw_only(), "simulations"_a, "exploration"_a, "seed"_a = 0,
      nb::sig("def mcts(state: deskovky.envs.protocol.State, *, simulations: int, "
              "exploration: float, seed: int = 0) -> MctsResult"),
      "Search a state by UCT with uniformly random rollouts to the end of the game.\n\n"
      "Stops early once the result is proven. `exploration` is the factor c of UCT. Raises "
      "IllegalActionError if the game is over, ConfigurationError for a value out of range.");
  module.def("check_mcts_options", &check_mcts_options, nb::kw_only(), "simulations"_a,
             "exploration"_a, "Raise ConfigurationError if `mcts` would.");
}

}  // namespace

void register_search(nb::module_& module) {
  register_minimax(module);
  register_mcts(module);
  module.def("greedy_actions", &greedy_actions, "state"_a,
             nb::sig("def greedy_actions(state: deskovky.envs.protocol.State) -> "
                     "numpy.typing.NDArray[numpy.int32]"),
             "Return the actions that win at once; if none, those that capture; if none, all "
             "legal ones: [k] int32, ascending. Raises IllegalActionError if the game is over.");
  module.def(
      "evaluate", &evaluate, "state"_a,
      nb::sig("def evaluate(state: deskovky.envs.protocol.State) -> int"),
      "Return what minimax thinks of an unfinished position without looking ahead: hundredths "
      "of the weakest piece, for the player to move.");
  module.def(
      "quiescence", &quiescence, "state"_a,
      nb::sig("def quiescence(state: deskovky.envs.protocol.State) -> int"),
      "Return what minimax thinks of a position where its depth is used up: as `evaluate`, but "
      "captures and other urgent actions are followed until the position is quiet. A win after "
      "n turns is 999,000 - n. Raises IllegalActionError if the game is over.");
  module.def(
      "evaluation_weights", &evaluation_weights, "state"_a,
      nb::sig("def evaluation_weights(state: deskovky.envs.protocol.State) -> dict[str, int]"),
      "Return what the evaluation of the state's game counts, and what one of it is worth in "
      "hundredths of the weakest piece.");
  module.def(
      "evaluation_features", &evaluation_features, "state"_a,
      nb::sig("def evaluation_features(state: deskovky.envs.protocol.State) -> "
              "numpy.typing.NDArray[numpy.int32]"),
      "Return how many of each term of `evaluation_weights` the player to move has more than the "
      "enemy: [terms] int32. Times the weights they are `evaluate`.");
}
