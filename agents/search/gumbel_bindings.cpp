// Python bindings of the batched Gumbel search. Options, roots and arrays are checked here, once;
// the search itself runs without the interpreter lock.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <cmath>
#include <memory>

#include "search/gumbel.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace deskovky;

namespace {

using Input = nb::ndarray<nb::ro>;
template <class T, int N>
using Output = nb::ndarray<nb::numpy, T, nb::ndim<N>>;

// Zeros that NumPy owns.
template <class T, int N>
Output<T, N> new_array(const std::array<std::size_t, N>& shape) {
  std::size_t size = 1;
  for (const std::size_t extent : shape) size *= extent;
  T* data = new T[size]();
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return {data, N, shape.data(), owner};
}

// {size, C, H, W}
std::array<std::size_t, 4> observations_shape(std::size_t size, nb::handle game) {
  std::array<std::size_t, 4> shape = {size};
  for (int axis = 0; axis < 3; ++axis) {
    shape[axis + 1] = nb::cast<std::size_t>(game.attr("observation_shape")[axis]);
  }
  return shape;
}

// A search over the games of `set_roots`: `collect` the observations of the leaves, `update` with
// what the network says of them, until nothing is left to collect.
class GumbelSearch {
 public:
  explicit GumbelSearch(const GumbelOptions& options)
      : settings_(options), pool_(options.num_threads) {}

  void set_roots(const nb::sequence& states, std::uint64_t seed) {
    const Busy busy(*this);
    phase_ = Phase::kNoRoots;  // until all is well
    leaves_.clear();
    size_ = nb::len(states);
    if (size_ == 0) throw ConfigurationError("states: expected at least one");
    const nb::object first = states[0];
    const nb::object game = first.attr("game");
    visit_search_state(first, [&]<SearchState S>(const S&) {
      if (dynamic_cast<GumbelTrees<S>*>(trees_.get())) return;
      trees_ = std::make_unique<GumbelTrees<S>>(settings_, pool_);
    });
    trees_->set_size(static_cast<int>(size_));
    for (std::size_t i = 0; i < size_; ++i) {
      const nb::object state = states[i];
      if (!state.type().is(first.type()) || !state.attr("game").equal(game)) {
        throw ConfigurationError("state " + std::to_string(i) + ": of another game than state 0");
      }
      trees_->set_root(static_cast<int>(i), state, Random(seed, i));
    }
    num_actions_ = nb::cast<std::size_t>(game.attr("num_actions"));
    observations_shape_ = observations_shape(size_, game);
    observation_size_ = observations_shape_[1] * observations_shape_[2] * observations_shape_[3];
    make_room(size_ * observation_size_);
    phase_ = Phase::kCollect;
  }

  // A view of the rows that `advance` filled, moved together.
  nb::object collect() {
    const Busy busy(*this);
    require(Phase::kCollect, "collect");
    run_or_abandon([&] { leaves_ = trees_->advance(observations_); });
    for (std::size_t row = 0; row < leaves_.size(); ++row) {
      const std::size_t game = leaves_[row];
      if (game == row) continue;
      std::copy_n(&observations_[game * observation_size_], observation_size_,
                  &observations_[row * observation_size_]);
    }
    phase_ = leaves_.empty() ? Phase::kDone : Phase::kUpdate;
    auto shape = observations_shape_;
    shape[0] = leaves_.size();
    return nb::cast(nb::ndarray<nb::numpy, float>(observations_, shape.size(), shape.data(),
                                                  observations_owner_),
                    nb::rv_policy::reference);
  }

  void update(const Input& prior_logits, const Input& values) {
    const Busy busy(*this);
    require(Phase::kUpdate, "update");
    const float* logits = read(prior_logits, "prior_logits", {leaves_.size(), num_actions_});
    const float* leaf_values = read(values, "values", {leaves_.size()});
    run_or_abandon([&] { trees_->expand(leaves_, logits, leaf_values); });
    leaves_.clear();
    phase_ = Phase::kCollect;
  }

  std::tuple<Output<std::int32_t, 1>, Output<float, 2>, Output<float, 1>, Output<std::int32_t, 2>>
  results() {
    const Busy busy(*this);
    require(Phase::kDone, "results");
    auto actions = new_array<std::int32_t, 1>({size_});
    auto weights = new_array<float, 2>({size_, num_actions_});
    auto values = new_array<float, 1>({size_});
    auto visits = new_array<std::int32_t, 2>({size_, num_actions_});
    for (std::size_t i = 0; i < size_; ++i) {
      const int game = static_cast<int>(i);
      actions.data()[i] = trees_->best_action(game);
      values.data()[i] = static_cast<float>(trees_->write_policy(
          game, weights.data() + i * num_actions_, visits.data() + i * num_actions_));
    }
    return {actions, weights, values, visits};
  }

  std::vector<GumbelTreeNode> tree(long long i) {
    const Busy busy(*this);
    require(Phase::kDone, "tree");
    if (i < 0 || i >= static_cast<long long>(size_)) throw nb::index_error("no game of that index");
    return trees_->nodes(static_cast<int>(i));
  }

 private:
  enum class Phase { kNoRoots, kCollect, kUpdate, kDone };

  // Refuses a second thread.
  class Busy {
   public:
    explicit Busy(GumbelSearch& search) : flag_(search.is_busy_) {
      if (flag_.test_and_set()) {
        throw ConfigurationError("another thread is inside this GumbelSearch");
      }
    }
    ~Busy() { flag_.clear(); }

   private:
    std::atomic_flag& flag_;
  };

  void require(Phase phase, const char* method) const {
    if (phase_ == phase) return;
    static constexpr std::array<const char*, 4> kExpected = {"set_roots", "collect", "update",
                                                             "results or set_roots"};
    throw ConfigurationError(std::string(method) + " is out of turn: the search waits for " +
                             kExpected[static_cast<std::size_t>(phase_)]);
  }

  // An error in mid-search, such as one of a Python game, leaves trees that cannot go on.
  template <class Work>
  void run_or_abandon(Work&& work) {
    try {
      const nb::gil_scoped_release release;
      work();
    } catch (...) {
      phase_ = Phase::kNoRoots;
      throw;
    }
  }

  static const float* read(const Input& array, const char* name,
                           const std::vector<std::size_t>& shape) {
    bool is_right = array.dtype() == nb::dtype<float>() && array.ndim() == shape.size() &&
                    array.device_type() == nb::device::cpu::value;
    std::string shape_text;
    std::int64_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      is_right =
          is_right && array.shape(i) == shape[i] && (shape[i] == 1 || array.stride(i) == stride);
      stride *= static_cast<std::int64_t>(shape[i]);
      shape_text = std::to_string(shape[i]) + (shape_text.empty() ? "" : ", ") + shape_text;
    }
    if (is_right) return static_cast<const float*>(array.data());
    throw ConfigurationError(std::string(name) + ": expected a contiguous CPU array [" +
                             shape_text + "] of float32");
  }

  // Makes observations_ at least that large. Views of a former one keep it alive.
  void make_room(std::size_t num_floats) {
    if (num_floats <= num_observation_floats_) return;
    num_observation_floats_ = num_floats;
    observations_ = new float[num_floats];
    observations_owner_ =
        nb::capsule(observations_, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  }

  GumbelSettings settings_;
  ThreadPool pool_;
  std::unique_ptr<AnyGumbelTrees> trees_;
  Phase phase_ = Phase::kNoRoots;
  std::size_t size_ = 0, num_actions_ = 0, observation_size_ = 0;
  std::array<std::size_t, 4> observations_shape_ = {};
  float* observations_ = nullptr;  // [B, C, H, W] or more
  std::size_t num_observation_floats_ = 0;
  nb::object observations_owner_;
  std::vector<int> leaves_;  // the games whose leaves wait for `update`
  std::atomic_flag is_busy_;
};

void make_search(GumbelSearch* self, std::int64_t num_simulations,
                 std::int64_t max_considered_actions, double gumbel_scale, double c_visit,
                 double c_scale, double contempt, std::int64_t num_threads) {
  const auto check = []<class T>(const char* name, T value, int least, int most) {
    if (least <= value && value <= most) return;
    throw ConfigurationError(std::string(name) + " = " + nb::str(nb::cast(value)).c_str() +
                             ": expected " + std::to_string(least) + " to " + std::to_string(most));
  };
  check("num_simulations", num_simulations, 0, 1'000'000);
  check("max_considered_actions", max_considered_actions, 1, 1024);
  check("gumbel_scale", gumbel_scale, 0, 1'000'000);
  check("c_visit", c_visit, 0, 1'000'000);
  check("c_scale", c_scale, 0, 1'000'000);
  check("contempt", contempt, 0, 1);
  check("num_threads", num_threads, 1, 1024);
  new (self) GumbelSearch({.num_simulations = static_cast<int>(num_simulations),
                           .max_considered_actions = static_cast<int>(max_considered_actions),
                           .gumbel_scale = gumbel_scale,
                           .c_visit = c_visit,
                           .c_scale = c_scale,
                           .contempt = contempt,
                           .num_threads = static_cast<int>(num_threads)});
}

using Positions = std::tuple<Output<float, 4>, Output<bool, 2>, Output<std::int8_t, 1>>;

Positions encode_positions(nb::handle start, const std::vector<int>& actions, std::size_t first) {
  if (first > actions.size()) {
    throw ConfigurationError("first = " + std::to_string(first) + ": there are " +
                             std::to_string(actions.size()) + " actions");
  }
  const nb::object game = start.attr("game");
  const std::size_t size = actions.size() - first;
  const auto num_actions = nb::cast<std::size_t>(game.attr("num_actions"));
  auto observations = new_array<float, 4>(observations_shape(size, game));
  auto mask = new_array<bool, 2>({size, num_actions});
  auto to_move = new_array<std::int8_t, 1>({size});
  visit_search_state(start, [&]<SearchState S>(S state) {
    const nb::gil_scoped_release release;
    const std::size_t observation_size = state.observation_size();
    ActionList legal;
    for (std::size_t step = 0; step < actions.size(); ++step) {
      state.legal_actions(legal);
      if (std::find(legal.begin(), legal.end(), actions[step]) == legal.end()) {
        throw IllegalActionError("step " + std::to_string(step) + ": action " +
                                 std::to_string(actions[step]) + " is not legal");
      }
      if (step >= first) {
        const std::size_t row = step - first;
        state.write_observation(observations.data() + row * observation_size);
        for (const Action action : legal) mask.data()[row * num_actions + action] = true;
        to_move.data()[row] = static_cast<std::int8_t>(state.to_move());
      }
      state.apply(actions[step]);
    }
  });
  return {observations, mask, to_move};
}

}  // namespace

void register_gumbel(nb::module_& module) {
  nb::class_<GumbelSearch>(
      module, "GumbelSearch",
      "Gumbel AlphaZero search over many games at once (Danihelka et al. 2022).\n\n"
      "Call `set_roots`, then `collect` and `update` in turn until `collect` returns no row, then\n"
      "`results`. All values lie in [-1, 1], for the player to move. A drawn game is worth\n"
      "-`contempt` to the player at the root, so that a position at least that good is played on.")
      .def("__init__", &make_search, "num_simulations"_a = 64, nb::kw_only(),
           "max_considered_actions"_a = 16, "gumbel_scale"_a = 1.0, "c_visit"_a = 50.0,
           "c_scale"_a = 1.0, "contempt"_a = 0.0, "num_threads"_a = 1)
      .def("set_roots", &GumbelSearch::set_roots, "states"_a, "seed"_a = 0,
           nb::sig("def set_roots(self, states: collections.abc.Sequence["
                   "deskovky.envs.protocol.State], seed: int = 0) -> None"),
           "Start a search from copies of `states`, all of one game and not over.\n\n"
           "The Gumbel noise of each depends on `seed` and its index alone.")
      .def("collect", &GumbelSearch::collect,
           nb::sig("def collect(self) -> numpy.typing.NDArray[numpy.float32]"),
           "Return the observations of the leaves to evaluate, [n, C, H, W] float32, at most one\n"
           "a game, each seen by its player to move; the next `collect` overwrites them.\n\n"
           "n = 0: the search is done.")
      .def("update", &GumbelSearch::update, "prior_logits"_a, "values"_a,
           nb::sig("def update(self, prior_logits: numpy.typing.NDArray[numpy.float32], "
                   "values: numpy.typing.NDArray[numpy.float32]) -> None"),
           "Give the collected leaves their logits, [n, A] float32, of which only those of legal\n"
           "actions are read, and their values, [n] float32.")
      .def("results", &GumbelSearch::results,
           nb::sig("def results(self) -> tuple[numpy.typing.NDArray[numpy.int32], "
                   "numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32], "
                   "numpy.typing.NDArray[numpy.int32]]"),
           "Return the chosen actions [B] int32, the improved policies [B, A] float32 (the\n"
           "targets of learning), their values [B] float32 and the visit counts [B, A] int32.")
      .def("tree", &GumbelSearch::tree, "i"_a,
           "Return the nodes of game i in the order they were made, each as (parent, action from\n"
           "it, player to move, visits, logit of the action, value by the network or the rules,\n"
           "mean value of its simulations); the parent and action of the root are -1.");
  module.def(
      "encode_positions", &encode_positions, "start"_a, "actions"_a, "first"_a = 0,
      nb::sig("def encode_positions(start: deskovky.envs.protocol.State, "
              "actions: collections.abc.Sequence[int], first: int = 0) -> "
              "tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.bool_], "
              "numpy.typing.NDArray[numpy.int8]]"),
      "Return the positions before each of `actions`, made from `start`, those before the first\n"
      "`first` left out: observations [n, C, H, W] float32, seen by the player to move, the legal\n"
      "action mask [n, A] bool and the player to move [n] int8. Raises IllegalActionError.");
}
